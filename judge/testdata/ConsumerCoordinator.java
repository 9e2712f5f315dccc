import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.*;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Runs Kafka's GroupCoordinatorShard with groups of both protocols, a clock and timers of its own. Each line is a step of
 * a script and is answered with what the shard answers and writes, and the state of its groups:
 *
 *   world SETTING=VALUE …               a new shard with these settings, at time 0
 *   TIME ERROR ID REQUEST …             time passes, then the request comes; its writes fail with ERROR, "-": none;
 *                                       a member id that is drawn is made of ID, a UUID in hex
 *
 * Where Kafka's coordinator itself fails, the answer is "fails" up to the end of the world.
 *
 * Writes are replicated at once. A pattern is looked at when the request that asked for that has been handled.
 */
public class ConsumerCoordinator {
    public static void main(String[] args) throws Exception {
        Security.insertProviderAt(new Drawn(), 1);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16));
        ConsumerCoordinator world = null;
        for (String line; (line = in.readLine()) != null;) {
            String[] w = line.split(" ");
            if (w[0].equals("world")) {
                world = new ConsumerCoordinator(w);
                out.print("ok\n");
            } else {
                try {
                    out.print((world.failed ? "fails" : world.step(w)) + '\n');
                } catch (NullPointerException e) { // a member without a target assignment, in ClassicGroup.fromConsumerGroup
                    world.failed = Arrays.stream(e.getStackTrace()).anyMatch(frame -> frame.getMethodName().equals("fromConsumerGroup"));
                    if (!world.failed)
                        throw e;
                    out.print("fails\n");
                }
            }
        }
        out.flush();
    }

    static final long START = 1_700_000_000_000L;

    /** Lets Java draw what the script says. */
    private static class Drawn extends Provider {
        static byte[] bytes = null;
        static int count = 0;

        Drawn() {
            super("Drawn", "1", "");
            put("SecureRandom.Drawn", Source.class.getName());
        }

        public static class Source extends SecureRandomSpi {
            @Override protected void engineSetSeed(byte[] seed) { }
            @Override protected byte[] engineGenerateSeed(int n) { return new byte[n]; }
            @Override protected void engineNextBytes(byte[] to) {
                byte[] from = bytes != null ? bytes : ByteBuffer.allocate(16).putInt(12, ++count).array();
                System.arraycopy(from, 0, to, 0, to.length);
            }
        }
    }

    record Due(long at, CoordinatorTimer.TimeoutOperation<Void, CoordinatorRecord> operation) { }
    private record Task(CoordinatorExecutor.TaskRunnable<Object> task, CoordinatorExecutor.TaskOperation<CoordinatorRecord, Object> operation) { }

    private boolean failed = false;
    private long now = 0;
    private long offset = 0;
    private int requests = 0;
    final Map<String, Due> timers = new HashMap<>();
    private final List<String> timed = new ArrayList<>(); // "group member", in the order in which they got a timer
    private final Map<String, Task> tasks = new LinkedHashMap<>();
    private final SnapshotRegistry snapshots = new SnapshotRegistry(new LogContext());
    final Arrivals groups = new Arrivals(snapshots);
    private final String[] joining = {""}; // the member that a request makes; "": none
    private final GroupCoordinatorShard shard;
    private final GroupCoordinatorService service;
    private Cluster image = new Cluster(0, new TreeMap<>());
    private final TreeMap<Integer, String> answers = new TreeMap<>();
    private final List<String> written = new ArrayList<>();

    private ConsumerCoordinator(String[] w) throws Exception {
        Map<String, Object> settings = new HashMap<>();
        for (int i = 1; i < w.length; i++)
            settings.put(w[i].split("=")[0], w[i].split("=")[1]);
        settings.put("group.consumer.min.session.timeout.ms", 1);
        settings.put("group.consumer.min.heartbeat.interval.ms", 1);
        GroupCoordinatorConfig config = GroupCoordinatorConfig.fromProps(settings);
        shard = (GroupCoordinatorShard) new GroupCoordinatorShard.Builder(config, new GroupConfigManager(Map.of()))
            .withAuthorizerPlugin(Optional.empty())
            .withLogContext(new LogContext())
            .withSnapshotRegistry(snapshots)
            .withTime(proxy(Time.class, (method, args) -> START + now))
            .withTimer(timer())
            .withExecutor(executor())
            .withCoordinatorMetrics(new GroupCoordinatorMetrics())
            .withTopicPartition(new TopicPartition("__consumer_offsets", 0))
            .build();
        Object manager = Arrivals.field(GroupCoordinatorShard.class, shard, "groupMetadataManager");
        Arrivals.set(manager.getClass(), manager, "groups", groups);
        Arrivals.set(manager.getClass(), manager, "consumerGroupAssignors", Map.of(
            "uniform", new Arrivals.Assignor(new UniformAssignor(), joining), "range", new Arrivals.Assignor(new RangeAssignor(), joining)));
        var constructor = GroupCoordinatorService.class.getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        service = (GroupCoordinatorService) constructor.newInstance(new LogContext(), config, null, null, null, null, null, null);
        shard.onLoaded(image);
        snapshots.idempotentCreateSnapshot(offset);
    }

    @SuppressWarnings("unchecked")
    private static <T> T proxy(Class<T> type, BiFunction<String, Object[], Object> answer) {
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, method, args) -> answer.apply(method.getName(), args));
    }

    @SuppressWarnings("unchecked")
    private CoordinatorTimer<Void, CoordinatorRecord> timer() {
        return proxy(CoordinatorTimer.class, (method, args) -> {
            String key = (String) args[0];
            switch (method) {
                case "cancel": timers.remove(key); return null;
                case "isScheduled": return timers.containsKey(key);
                case "scheduleIfAbsent": if (timers.containsKey(key)) return null;
            }
            String[] parts = parts(key);
            if (parts == null && !key.equals("expire-group-metadata"))
                return null;
            timed.removeIf(member -> Arrays.stream(KINDS).noneMatch(kind -> timers.containsKey(kind + member)));
            if (parts != null && parts[1].contains("-") && !parts[0].equals("heartbeat-") && !timed.contains(parts[1]))
                timed.add(parts[1]);
            timers.put(key, new Due(now + ((TimeUnit) args[2]).toMillis((Long) args[1]), (CoordinatorTimer.TimeoutOperation<Void, CoordinatorRecord>) args[args.length - 1]));
            return null;
        });
    }

    @SuppressWarnings("unchecked")
    private CoordinatorExecutor<CoordinatorRecord> executor() {
        return proxy(CoordinatorExecutor.class, (method, args) -> {
            String key = (String) args[0];
            if (method.equals("schedule"))
                return tasks.putIfAbsent(key, new Task((CoordinatorExecutor.TaskRunnable<Object>) args[1], (CoordinatorExecutor.TaskOperation<CoordinatorRecord, Object>) args[2])) == null;
            return tasks.containsKey(key);
        });
    }

    private static final String[] KINDS = {"session-timeout-", "rebalance-timeout-", "join-", "sync-", "heartbeat-"};

    /** The kind of a timer, and its group with, behind a dash, its member; null: it is of another kind. */
    private static String[] parts(String key) {
        for (String kind : KINDS)
            if (key.startsWith(kind))
                return new String[] {kind, key.substring(kind.length())};
        return null;
    }

    /**
     * At equal times classic groups go first, by id, in each the join phase, the sync phase, members, pending ids; then the
     * members of groups of the consumer protocol in the order in which they got a timer; then what expires.
     */
    private String rank(String key) {
        if (key.equals("expire-group-metadata"))
            return "~";
        String[] parts = parts(key);
        int dash = parts[1].indexOf('-');
        if (dash < 0)
            return "a" + parts[1] + (parts[0].equals("join-") ? 0 : 1);
        String group = parts[1].substring(0, dash), member = parts[1].substring(dash + 1);
        if (!parts[0].equals("heartbeat-"))
            return "b" + group + (char) ('0' + timed.indexOf(parts[1])) + Arrays.asList(KINDS).indexOf(parts[0]);
        if (groups.get(group) instanceof ClassicGroup g) {
            char place = 'a';
            for (var m : g.allMembers()) {
                if (m.memberId().equals(member))
                    return "a" + group + 2 + place;
                place++;
            }
        }
        return "a" + group + 3 + member;
    }

    private void pass(long until) throws Exception {
        for (;;) {
            String first = null;
            for (Map.Entry<String, Due> e : timers.entrySet())
                if (e.getValue().at <= until && (first == null || e.getValue().at < timers.get(first).at ||
                    e.getValue().at == timers.get(first).at && rank(e.getKey()).compareTo(rank(first)) < 0))
                    first = e.getKey();
            if (first == null)
                break;
            Due due = timers.remove(first);
            now = Math.max(now, due.at);
            append(due.operation.generateRecords(), null);
            forget();
            groups.settle();
        }
        now = until;
    }

    private boolean append(CoordinatorResult<?, CoordinatorRecord> result, Errors error) { return append(result, error, -1); }

    /** Appends and replays the records of an operation, in the transaction of a producer, -1: in none; whether that went well. */
    private boolean append(CoordinatorResult<?, CoordinatorRecord> result, Errors error, long producer) {
        List<CoordinatorRecord> records = groups.arrange(result.records());
        if (error != null && !records.isEmpty()) {
            if (result.replayRecords())
                records.forEach(r -> shard.replay(offset, producer, (short) (producer < 0 ? -1 : 0), r));
            snapshots.revertToSnapshot(offset);
            if (result.appendFuture() != null)
                result.appendFuture().completeExceptionally(error.exception());
            return false;
        }
        List<String> texts = new ArrayList<>();
        for (CoordinatorRecord r : records) {
            if (result.replayRecords())
                shard.replay(offset, producer, (short) (producer < 0 ? -1 : 0), r);
            texts.add(ConsumerTexts.record(r) + (producer < 0 ? "" : " in " + producer));
            offset++;
        }
        texts.sort(null); // Kafka's come in the order of its hash tables
        written.addAll(texts);
        snapshots.idempotentCreateSnapshot(offset);
        if (result.appendFuture() != null)
            result.appendFuture().complete(null);
        return true;
    }

    /**
     * Cancels the timers of classic groups that there are not: their first record was not written, as in
     * GroupCoordinator.java, or they have become groups of the consumer protocol. Kafka does not cancel that of the join phase.
     */
    private void forget() {
        timers.keySet().removeIf(key -> (key.startsWith("join-") || key.startsWith("sync-")) && key.indexOf('-', 5) < 0 &&
            !(groups.get(key.substring(5)) instanceof ClassicGroup));
    }

    static String or(String text) { return text == null || text.isEmpty() ? "-" : text; }
    private static String nil(String word) { return word.equals("-") ? null : word.equals("''") ? "" : word; }
    private static String id(String word) { return word.equals("-") ? "" : word; }
    static String hex(byte[] bytes) { return bytes == null || bytes.length == 0 ? "-" : HexFormat.of().formatHex(bytes); }
    private static byte[] bytes(String word) { return word.equals("-") ? new byte[0] : HexFormat.of().parseHex(word); }
    private static String error(short code) { return Errors.forCode(code).name(); }

    private static Errors told(Errors e) {
        return switch (e) {
            case NOT_ENOUGH_REPLICAS -> Errors.COORDINATOR_NOT_AVAILABLE;
            case NOT_LEADER_OR_FOLLOWER -> Errors.NOT_COORDINATOR;
            case MESSAGE_TOO_LARGE -> Errors.UNKNOWN_SERVER_ERROR;
            default -> e;
        };
    }

    private AuthorizableRequestContext context(String client, int version) {
        return proxy(AuthorizableRequestContext.class, (method, args) -> switch (method) {
            case "clientId" -> client;
            case "requestVersion" -> version;
            case "clientAddress" -> {
                try {
                    yield InetAddress.getByAddress(client, new byte[] {127, 0, 0, 1});
                } catch (java.net.UnknownHostException e) {
                    throw new IllegalStateException(e);
                }
            }
            default -> null;
        });
    }

    private String step(String[] w) throws Exception {
        answers.clear();
        written.clear();
        pass(Long.parseLong(w[0]));
        Errors error = w[1].equals("-") ? null : Errors.valueOf(w[1]);
        Drawn.bytes = w[2].equals("-") ? null : HexFormat.of().parseHex(w[2]);
        int n = ++requests;
        String[] r = Arrays.copyOfRange(w, 3, w.length);
        Set<String> timedBefore = new HashSet<>(timed);
        groups.comes = r[0].equals("join") ? r[3] : "";
        switch (r[0]) {
            case "topics" -> publish(r);
            case "cbeat" -> consumerBeat(n, error, r);
            case "join" -> join(n, error, r);
            case "sync" -> sync(n, error, r);
            case "beat" -> beat(n, error, r);
            case "leave" -> leave(n, error, r);
            case "commit" -> commit(n, error, r);
            case "txncommit" -> commitInTransaction(n, error, r);
            case "endtxn" -> endTransaction(error, r);
            case "fetch" -> fetch(n, r);
            case "describe" -> describe(n, r);
            case "cdescribe" -> describeConsumer(n, r);
            case "delete" -> delete(n, error, r);
            case "deloffset" -> deleteOffset(n, error, r);
            default -> throw new IllegalArgumentException(r[0]);
        }
        while (!tasks.isEmpty()) {
            Task task = tasks.remove(tasks.keySet().iterator().next());
            try {
                append(task.operation.onComplete(task.task.run(), null), error);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
        timed.sort(Comparator.comparingInt(member -> timedBefore.contains(member) ? -1 : groups.place(member))); // an upgrade sets several
        groups.comes = "";
        forget();
        groups.settle();
        return String.join("; ", answers.values()) + " | " + String.join("; ", written) + " | " + new ConsumerTexts(groups, timers).state() + " | " + OffsetTexts.of(shard);
    }

    /** topics VERSION NAME:ID:PARTITIONS … */
    private void publish(String[] w) {
        Cluster before = image;
        Map<String, Cluster.Topic> topics = new TreeMap<>();
        List<Uuid> created = new ArrayList<>(), changed = new ArrayList<>();
        for (int i = 2; i < w.length; i++) {
            String[] t = w[i].split(":");
            Cluster.Topic topic = new Cluster.Topic(t[0], new Uuid(0, Long.parseLong(t[1])), Integer.parseInt(t[2]));
            topics.put(topic.name(), topic);
            if (!before.topics().containsKey(topic.name()))
                created.add(topic.id());
            if (!topic.equals(before.topics().get(topic.name())))
                changed.add(topic.id());
        }
        image = new Cluster(Long.parseLong(w[1]), topics);
        shard.onNewMetadataImage(image, proxy(CoordinatorMetadataDelta.class, (method, args) -> switch (method) {
            case "createdTopicIds" -> created;
            case "changedTopicIds" -> changed;
            case "deletedTopicIds" -> Set.of();
            default -> before;
        }));
    }

    private interface Operation<T> { CoordinatorResult<T, CoordinatorRecord> run() throws Exception; }

    /** Runs an operation whose answer waits for its writes. */
    private <T> void answer(int n, String api, Errors error, Operation<T> operation, Function<T, String> answer, Function<Errors, String> failure) throws Exception {
        answer(n, api, error, -1, operation, answer, failure);
    }

    private <T> void answer(int n, String api, Errors error, long producer, Operation<T> operation, Function<T, String> answer, Function<Errors, String> failure) throws Exception {
        String text;
        try {
            CoordinatorResult<T, CoordinatorRecord> result = operation.run();
            text = append(result, error, producer) ? answer.apply(result.response()) : failure.apply(told(error));
        } catch (org.apache.kafka.common.errors.ApiException | NoSuchElementException | IllegalArgumentException e) {
            text = failure.apply(Errors.forException(e));
        }
        answers.put(n, n + " " + api + " " + text);
    }

    /** The id of the member that a request makes, if it makes one. */
    private String joins(String group, String id) {
        if (id.isEmpty() && Drawn.bytes != null)
            return new Uuid(ByteBuffer.wrap(Drawn.bytes).getLong(), ByteBuffer.wrap(Drawn.bytes).getLong(8)).toString();
        return groups.get(group) instanceof ConsumerGroup g && g.hasMember(id) ? "" : id;
    }

    /** cbeat NODE VERSION GROUP MEMBER EPOCH INSTANCE RACK TIMEOUT TOPICS REGEX ASSIGNOR OWNED */
    private void consumerBeat(int n, Errors error, String[] w) throws Exception {
        int version = Integer.parseInt(w[2]);
        ConsumerGroupHeartbeatRequestData q = new ConsumerGroupHeartbeatRequestData().setGroupId(id(w[3])).setMemberId(id(w[4])).setMemberEpoch(Integer.parseInt(w[5])).
            setInstanceId(nil(w[6])).setRackId(nil(w[7])).setRebalanceTimeoutMs(Integer.parseInt(w[8])).setSubscribedTopicRegex(nil(w[10])).setServerAssignor(nil(w[11])).
            setSubscribedTopicNames(w[9].equals("-") ? null : w[9].equals("[]") ? List.of() : List.of(w[9].split(",")));
        if (!w[12].equals("-"))
            q.setTopicPartitions(new ArrayList<>());
        if (!w[12].equals("-") && !w[12].equals("[]"))
            for (String topic : w[12].split(";"))
                q.topicPartitions().add(new ConsumerGroupHeartbeatRequestData.TopicPartitions().setTopicId(new Uuid(0, Long.parseLong(topic.split("/")[0]))).
                    setPartitions(Arrays.stream(topic.split("/")[1].split(",")).map(Integer::valueOf).toList()));
        joining[0] = joins(q.groupId(), q.memberId());
        answer(n, "cbeat", error, () -> {
            Method check = GroupCoordinatorService.class.getDeclaredMethod("throwIfConsumerGroupHeartbeatRequestIsInvalid", ConsumerGroupHeartbeatRequestData.class, int.class);
            check.setAccessible(true);
            try {
                check.invoke(service, q, version);
            } catch (InvocationTargetException e) {
                throw (RuntimeException) e.getCause();
            }
            return shard.consumerGroupHeartbeat(context(w[1], version), q);
        }, r -> "NONE " + or(r.memberId()) + " " + r.memberEpoch() + " " + r.heartbeatIntervalMs() + " " + ConsumerTexts.assigned(r.assignment()), e -> e.name() + " - 0 0 -");
    }

    /** join NODE GROUP MEMBER INSTANCE VERSION SESSION REBALANCE PROTOCOL=BYTES … */
    private void join(int n, Errors error, String[] w) {
        JoinGroupRequestData q = new JoinGroupRequestData().setGroupId(w[2]).setMemberId(id(w[3])).setGroupInstanceId(nil(w[4])).setProtocolType("consumer").
            setSessionTimeoutMs(Integer.parseInt(w[6])).setRebalanceTimeoutMs(Integer.parseInt(w[7]));
        for (int i = 8; i < w.length; i++) {
            String[] p = w[i].split("=");
            q.protocols().add(new JoinGroupRequestData.JoinGroupRequestProtocol().setName(p[0]).setMetadata(bytes(p[1])));
        }
        CompletableFuture<JoinGroupResponseData> future = new CompletableFuture<>();
        future.thenAccept(r -> {
            List<String> members = new ArrayList<>();
            for (JoinGroupResponseData.JoinGroupResponseMember m : r.members())
                members.add(or(m.memberId()) + "/" + or(m.groupInstanceId()) + "=" + hex(m.metadata()));
            answers.put(n, n + " join " + error(r.errorCode()) + " " + r.generationId() + " " + or(r.protocolType()) + " " + or(r.protocolName()) + " " +
                or(r.leader()) + " " + or(r.memberId()) + " " + r.skipAssignment() + " " + members);
        });
        joining[0] = joins(q.groupId(), q.memberId());
        try {
            CoordinatorResult<Void, CoordinatorRecord> result = shard.classicGroupJoin(context(w[1], Integer.parseInt(w[5])), q, future);
            if (!append(result, error) && !future.isDone())
                future.complete(new JoinGroupResponseData().setErrorCode(told(error).code()));
        } catch (org.apache.kafka.common.errors.ApiException e) {
            future.complete(new JoinGroupResponseData().setErrorCode(Errors.forException(e).code()));
        }
    }

    /** sync NODE GROUP MEMBER INSTANCE GENERATION TYPE PROTOCOL MEMBER=BYTES … */
    private void sync(int n, Errors error, String[] w) {
        SyncGroupRequestData q = new SyncGroupRequestData().setGroupId(w[2]).setMemberId(id(w[3])).setGroupInstanceId(nil(w[4])).
            setGenerationId(Integer.parseInt(w[5])).setProtocolType(nil(w[6])).setProtocolName(nil(w[7]));
        for (int i = 8; i < w.length; i++) {
            String[] a = w[i].split("=");
            q.assignments().add(new SyncGroupRequestData.SyncGroupRequestAssignment().setMemberId(a[0]).setAssignment(bytes(a[1])));
        }
        CompletableFuture<SyncGroupResponseData> future = new CompletableFuture<>();
        future.thenAccept(r -> answers.put(n, n + " sync " + error(r.errorCode()) + " " + or(r.protocolType()) + " " + or(r.protocolName()) + " " + hex(r.assignment())));
        try {
            CoordinatorResult<Void, CoordinatorRecord> result = shard.classicGroupSync(context(w[1], 5), q, future);
            if (!append(result, error) && !future.isDone())
                future.complete(new SyncGroupResponseData().setErrorCode(told(error).code()));
        } catch (org.apache.kafka.common.errors.ApiException e) {
            future.complete(new SyncGroupResponseData().setErrorCode(Errors.forException(e).code()));
        }
    }

    private void beat(int n, Errors error, String[] w) throws Exception {
        HeartbeatRequestData q = new HeartbeatRequestData().setGroupId(w[2]).setMemberId(id(w[3])).setGroupInstanceId(nil(w[4])).setGenerationId(Integer.parseInt(w[5]));
        answer(n, "beat", error, () -> shard.classicGroupHeartbeat(context(w[1], 4), q), r -> error(r.errorCode()), Errors::name);
    }

    private void leave(int n, Errors error, String[] w) throws Exception {
        LeaveGroupRequestData q = new LeaveGroupRequestData().setGroupId(w[2]);
        for (int i = 3; i < w.length; i++) {
            String[] m = w[i].split("/");
            q.members().add(new LeaveGroupRequestData.MemberIdentity().setMemberId(id(m[0])).setGroupInstanceId(nil(m[1])));
        }
        answer(n, "leave", error, () -> shard.classicGroupLeave(context(w[1], 5), q), r -> {
            StringBuilder text = new StringBuilder(error(r.errorCode()));
            r.members().forEach(m -> text.append(' ').append(or(m.memberId())).append('/').append(or(m.groupInstanceId())).append('=').append(error(m.errorCode())));
            return text.toString();
        }, e -> {
            StringBuilder text = new StringBuilder(e == Errors.UNKNOWN_MEMBER_ID ? "NONE" : e.name());
            if (e == Errors.UNKNOWN_MEMBER_ID)
                q.members().forEach(m -> text.append(' ').append(or(m.memberId())).append('/').append(or(m.groupInstanceId())).append("=UNKNOWN_MEMBER_ID"));
            return text.toString();
        });
    }

    /** commit NODE GROUP MEMBER INSTANCE EPOCH VERSION TOPIC PARTITION OFFSET */
    private void commit(int n, Errors error, String[] w) throws Exception {
        OffsetCommitRequestData q = new OffsetCommitRequestData().setGroupId(w[2]).setMemberId(id(w[3])).setGroupInstanceId(nil(w[4])).
            setGenerationIdOrMemberEpoch(Integer.parseInt(w[5])).setTopics(List.of(new OffsetCommitRequestData.OffsetCommitRequestTopic().setName(w[7]).setPartitions(
                List.of(new OffsetCommitRequestData.OffsetCommitRequestPartition().setPartitionIndex(Integer.parseInt(w[8])).setCommittedOffset(Long.parseLong(w[9])).
                    setCommittedMetadata("m")))));
        answer(n, "commit", error, () -> shard.commitOffset(context(w[1], Integer.parseInt(w[6])), q),
            r -> error(r.topics().get(0).partitions().get(0).errorCode()), Errors::name);
    }

    /** txncommit NODE GROUP MEMBER INSTANCE EPOCH PRODUCER TOPIC PARTITION OFFSET */
    private void commitInTransaction(int n, Errors error, String[] w) throws Exception {
        TxnOffsetCommitRequestData q = new TxnOffsetCommitRequestData().setGroupId(w[2]).setMemberId(id(w[3])).setGroupInstanceId(nil(w[4])).
            setGenerationId(Integer.parseInt(w[5])).setProducerId(Long.parseLong(w[6])).setTopics(List.of(new TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic().setName(w[7]).setPartitions(
                List.of(new TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition().setPartitionIndex(Integer.parseInt(w[8])).setCommittedOffset(Long.parseLong(w[9])).
                    setCommittedMetadata("m")))));
        answer(n, "txncommit", error, q.producerId(), () -> shard.commitTransactionalOffset(context(w[1], 5), q),
            r -> error(r.topics().get(0).partitions().get(0).errorCode()), Errors::name);
    }

    /** endtxn PRODUCER COMMIT|ABORT: as CoordinatorRuntime does, the end is replayed, then appended, and taken back if that fails. */
    private void endTransaction(Errors error, String[] w) {
        shard.replayEndTransactionMarker(Long.parseLong(w[1]), (short) 1, TransactionResult.valueOf(w[2]));
        if (error != null) {
            snapshots.revertToSnapshot(offset);
            return;
        }
        written.add(w[2] + " " + w[1]);
        snapshots.idempotentCreateSnapshot(++offset);
    }

    /** fetch NODE GROUP TOPIC PARTITION STABLE MEMBER EPOCH */
    private void fetch(int n, String[] w) {
        OffsetFetchRequestData.OffsetFetchRequestGroup q = new OffsetFetchRequestData.OffsetFetchRequestGroup().setGroupId(w[2]).setMemberId(nil(w[6])).setMemberEpoch(Integer.parseInt(w[7])).
            setTopics(List.of(new OffsetFetchRequestData.OffsetFetchRequestTopics().setName(w[3]).setPartitionIndexes(List.of(Integer.parseInt(w[4])))));
        try {
            OffsetFetchResponseData.OffsetFetchResponsePartitions p = shard.fetchOffsets(q, w[5].equals("true") ? Long.MAX_VALUE : offset).topics().get(0).partitions().get(0);
            answers.put(n, n + " fetch " + error(p.errorCode()) + " " + p.committedOffset() + " " + p.committedLeaderEpoch() + " " + or(p.metadata()));
        } catch (org.apache.kafka.common.errors.ApiException e) {
            answers.put(n, n + " fetch " + Errors.forException(e));
        }
    }

    private void describe(int n, String[] w) {
        DescribeGroupsResponseData.DescribedGroup g = shard.describeGroups(context(w[1], 6), List.of(w[2]), offset).get(0);
        List<String> members = new ArrayList<>();
        for (DescribeGroupsResponseData.DescribedGroupMember m : g.members())
            members.add(m.memberId() + "/" + or(m.groupInstanceId()) + "/" + m.clientId() + "/" + hex(m.memberMetadata()) + "/" + hex(m.memberAssignment()));
        answers.put(n, n + " describe " + error(g.errorCode()) + " " + g.groupState() + " " + or(g.protocolType()) + " " + or(g.protocolData()) + " " + members);
    }

    private void describeConsumer(int n, String[] w) {
        answers.put(n, n + " cdescribe " + ConsumerTexts.described(shard.consumerGroupDescribe(List.of(w[2]), offset).get(0)));
    }

    private void delete(int n, Errors error, String[] w) throws Exception {
        answer(n, "delete", error, () -> shard.deleteGroups(context(w[1], 2), List.of(w[2])), r -> error(r.iterator().next().errorCode()), Errors::name);
    }

    private void deleteOffset(int n, Errors error, String[] w) throws Exception {
        OffsetDeleteRequestData q = new OffsetDeleteRequestData().setGroupId(w[2]);
        OffsetDeleteRequestData.OffsetDeleteRequestTopic t = new OffsetDeleteRequestData.OffsetDeleteRequestTopic().setName(w[3]);
        t.partitions().add(new OffsetDeleteRequestData.OffsetDeleteRequestPartition().setPartitionIndex(Integer.parseInt(w[4])));
        q.topics().add(t);
        answer(n, "deloffset", error, () -> shard.deleteOffsets(context(w[1], 0), q),
            r -> error(r.errorCode()) + " " + error(r.topics().iterator().next().partitions().iterator().next().errorCode()), Errors::name);
    }
}
