import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.*;
import org.apache.kafka.coordinator.group.*;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.generated.*;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Runs Kafka's GroupCoordinatorShard with a clock and timers of its own. Each line is a step of a script and is answered
 * with what the shard answers and writes, and the state of its groups:
 *
 *   world MAX_SIZE INITIAL_DELAY RETENTION CHECK     a new shard, at time 0
 *   TIME ERROR REQUEST …                             time passes, then the request comes; its writes fail with ERROR, "-": none
 *
 * Writes are replicated at once. Member ids are told by the client's or instance's name and a count, "c1#2".
 *
 * Members are kept in the order in which they joined instead of Kafka's hash table, so that a new leader is one that can
 * be foretold.
 */
public class GroupCoordinator {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        GroupCoordinator world = null;
        for (String line; (line = in.readLine()) != null;) {
            String[] w = line.split(" ");
            if (w[0].equals("world")) {
                world = new GroupCoordinator(w);
                out.append("ok\n");
            } else {
                out.append(world.step(w)).append('\n');
            }
        }
        System.out.print(out);
    }

    private static final long START = 1_700_000_000_000L;

    /** A map in the order of its keys' arrival; what replaces a static member takes its place. */
    private static class Members extends AbstractMap<String, ClassicGroupMember> {
        private final List<Entry<String, ClassicGroupMember>> entries = new ArrayList<>();
        private int hole;
        private ClassicGroupMember gone;

        @Override public ClassicGroupMember put(String id, ClassicGroupMember member) {
            for (Entry<String, ClassicGroupMember> e : entries)
                if (e.getKey().equals(id))
                    return e.setValue(member);
            boolean replaces = gone != null && gone.isStaticMember() && gone.groupInstanceId().equals(member.groupInstanceId());
            entries.add(replaces ? Math.min(hole, entries.size()) : entries.size(), new SimpleEntry<>(id, member));
            gone = null;
            return null;
        }

        @Override public ClassicGroupMember remove(Object id) {
            for (int i = 0; i < entries.size(); i++)
                if (entries.get(i).getKey().equals(id)) {
                    hole = i;
                    gone = entries.remove(i).getValue();
                    return gone;
                }
            return null;
        }

        @Override public Set<Entry<String, ClassicGroupMember>> entrySet() {
            return new AbstractSet<>() {
                @Override public Iterator<Entry<String, ClassicGroupMember>> iterator() { return entries.iterator(); }
                @Override public int size() { return entries.size(); }
            };
        }
    }

    private record Due(long at, CoordinatorTimer.TimeoutOperation<Void, CoordinatorRecord> operation) { }

    private long now = 0;
    private long offset = 0;
    private int requests = 0;
    private final Map<String, Due> timers = new HashMap<>();
    private final SnapshotRegistry snapshots = new SnapshotRegistry(new LogContext());
    private final GroupCoordinatorShard shard;
    private final Map<?, ?> groups;
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, String> ids = new HashMap<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private final TreeMap<Integer, String> answers = new TreeMap<>();
    private final List<String> written = new ArrayList<>();

    private GroupCoordinator(String[] w) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("group.max.size", Integer.parseInt(w[1]));
        config.put("group.initial.rebalance.delay.ms", Integer.parseInt(w[2]));
        config.put("offsets.retention.minutes", Integer.parseInt(w[3]));
        config.put("offsets.retention.check.interval.ms", Long.parseLong(w[4]));
        shard = (GroupCoordinatorShard) new GroupCoordinatorShard.Builder(GroupCoordinatorConfig.fromProps(config), new GroupConfigManager(Map.of()))
            .withAuthorizerPlugin(Optional.empty())
            .withLogContext(new LogContext())
            .withSnapshotRegistry(snapshots)
            .withTime(proxy(Time.class, (method, args) -> START + now))
            .withTimer(timer())
            .withExecutor(proxy(CoordinatorExecutor.class, (method, args) -> false))
            .withCoordinatorMetrics(new GroupCoordinatorMetrics())
            .withTopicPartition(new TopicPartition("__consumer_offsets", 0))
            .build();
        shard.onLoaded(CoordinatorMetadataImage.EMPTY);
        groups = (Map<?, ?>) field(field(shard, "groupMetadataManager"), "groups");
        snapshots.idempotentCreateSnapshot(offset);
    }

    private static Object field(Object of, String name) throws Exception {
        Field f = of.getClass().getDeclaredField(name);
        f.setAccessible(true);
        return f.get(of);
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
            if (key.equals("expire-group-metadata") || key.startsWith("heartbeat-") || key.startsWith("join-") || key.startsWith("sync-"))
                timers.put(key, new Due(now + ((TimeUnit) args[2]).toMillis((Long) args[1]), (CoordinatorTimer.TimeoutOperation<Void, CoordinatorRecord>) args[args.length - 1]));
            return null;
        });
    }

    /** At equal times groups go by id, in each the join phase, the sync phase, members, pending ids; then what expires. */
    private String rank(String key) {
        if (key.equals("expire-group-metadata"))
            return "~";
        for (Object o : new TreeMap<>(groups).values()) {
            ClassicGroup g = (ClassicGroup) o;
            if (key.equals("join-" + g.groupId()))
                return g.groupId() + " 0";
            if (key.equals("sync-" + g.groupId()))
                return g.groupId() + " 1";
            char place = 'a';
            for (ClassicGroupMember m : g.allMembers()) {
                if (key.equals("heartbeat-" + g.groupId() + "-" + m.memberId()))
                    return g.groupId() + " 2" + place;
                place++;
            }
        }
        return "z" + key;
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
            arrange();
        }
        now = until;
    }

    /** Members in the order of their arrival. */
    @SuppressWarnings("unchecked")
    private void arrange() throws Exception {
        for (Object g : groups.values()) {
            Field f = ClassicGroup.class.getDeclaredField("members");
            f.setAccessible(true);
            Map<String, ClassicGroupMember> members = (Map<String, ClassicGroupMember>) f.get(g);
            if (members instanceof Members arranged) {
                arranged.gone = null;
                continue;
            }
            Members ordered = new Members();
            members.forEach(ordered::put);
            f.set(g, ordered);
        }
    }

    private boolean append(CoordinatorResult<?, CoordinatorRecord> result, Errors error) { return append(result, error, -1); }

    /** Appends and replays the records of an operation, in the transaction of a producer, -1: in none; whether that went well. */
    private boolean append(CoordinatorResult<?, CoordinatorRecord> result, Errors error, long producer) {
        if (result.records().isEmpty())
            return true;
        if (error != null) {
            if (result.replayRecords())
                result.records().forEach(r -> shard.replay(offset, producer, (short) (producer < 0 ? -1 : 0), r));
            snapshots.revertToSnapshot(offset);
            forget();
            if (result.appendFuture() != null)
                result.appendFuture().completeExceptionally(error.exception());
            return false;
        }
        List<String> texts = new ArrayList<>();
        for (CoordinatorRecord r : result.records()) {
            if (result.replayRecords())
                shard.replay(offset, producer, (short) (producer < 0 ? -1 : 0), r);
            texts.add(text(r) + (producer < 0 ? "" : " in " + producer));
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
     * Cancels the timers of a group whose first record was not written. Kafka does not: its timer of the join phase fires
     * for the next group of that name, raises the generation and then fails, as that group is Empty.
     */
    private void forget() {
        timers.keySet().removeIf(key -> (key.startsWith("join-") || key.startsWith("sync-")) && !groups.containsKey(key.substring(5)));
    }

    private static String or(String text) { return text == null || text.isEmpty() ? "-" : text; }
    private static String nil(String word) { return word.equals("-") ? null : word; }
    private static String hex(byte[] bytes) { return bytes == null || bytes.length == 0 ? "-" : HexFormat.of().formatHex(bytes); }
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

    /** The name of an id; the first time one is seen it is named. */
    private String name(String id) {
        if (id == null || id.isEmpty())
            return "-";
        if (id.length() < 37 || id.charAt(id.length() - 37) != '-')
            return id;
        return names.computeIfAbsent(id, k -> {
            String base = id.substring(0, id.length() - 37);
            String name = base + "#" + counts.merge(base, 1, Integer::sum);
            ids.put(name, id);
            return name;
        });
    }

    private String id(String name) { return name.equals("-") ? "" : ids.getOrDefault(name, name); }

    private AuthorizableRequestContext context(String client, int version) {
        return proxy(AuthorizableRequestContext.class, (method, args) -> switch (method) {
            case "clientId" -> client;
            case "requestVersion" -> version;
            case "clientAddress" -> InetAddress.getLoopbackAddress();
            default -> null;
        });
    }

    private String step(String[] w) throws Exception {
        answers.clear();
        written.clear();
        pass(Long.parseLong(w[0]));
        Errors error = w[1].equals("-") ? null : Errors.valueOf(w[1]);
        int n = ++requests;
        try {
            switch (w[2]) {
                case "join" -> join(n, error, w);
                case "sync" -> sync(n, error, w);
                case "beat" -> beat(n, error, w);
                case "leave" -> leave(n, error, w);
                case "commit" -> commit(n, error, w);
                case "txncommit" -> commitInTransaction(n, error, w);
                case "endtxn" -> endTransaction(error, w);
                case "fetch" -> fetch(n, w);
                case "describe" -> describe(n, w);
                case "delete" -> delete(n, error, w);
                case "deloffset" -> deleteOffset(n, error, w);
                default -> throw new IllegalArgumentException(w[2]);
            }
        } finally {
            arrange();
        }
        return String.join("; ", answers.values()) + " | " + String.join("; ", written) + " | " + state() + " | " + OffsetTexts.of(shard);
    }

    private void join(int n, Errors error, String[] w) {
        JoinGroupRequestData q = new JoinGroupRequestData().setGroupId(w[4]).setMemberId(id(w[5])).setGroupInstanceId(nil(w[6])).setProtocolType("consumer").
            setSessionTimeoutMs(Integer.parseInt(w[8])).setRebalanceTimeoutMs(Integer.parseInt(w[9]));
        for (int i = 10; i < w.length; i++) {
            String[] p = w[i].split("=");
            q.protocols().add(new JoinGroupRequestData.JoinGroupRequestProtocol().setName(p[0]).setMetadata(bytes(p[1])));
        }
        CompletableFuture<JoinGroupResponseData> future = new CompletableFuture<>();
        future.thenAccept(r -> {
            List<String> members = new ArrayList<>();
            for (JoinGroupResponseData.JoinGroupResponseMember m : r.members())
                members.add(name(m.memberId()) + "/" + or(m.groupInstanceId()) + "=" + hex(m.metadata()));
            answers.put(n, n + " join " + error(r.errorCode()) + " " + r.generationId() + " " + or(r.protocolType()) + " " + or(r.protocolName()) + " " +
                name(r.leader()) + " " + name(r.memberId()) + " " + r.skipAssignment() + " " + members);
        });
        CoordinatorResult<Void, CoordinatorRecord> result = shard.classicGroupJoin(context(w[3], Integer.parseInt(w[7])), q, future);
        if (!append(result, error) && !future.isDone())
            future.complete(new JoinGroupResponseData().setErrorCode(told(error).code()));
    }

    private void sync(int n, Errors error, String[] w) {
        SyncGroupRequestData q = new SyncGroupRequestData().setGroupId(w[4]).setMemberId(id(w[5])).setGroupInstanceId(nil(w[6])).
            setGenerationId(Integer.parseInt(w[7])).setProtocolType(nil(w[8])).setProtocolName(nil(w[9]));
        for (int i = 10; i < w.length; i++) {
            String[] a = w[i].split("=");
            q.assignments().add(new SyncGroupRequestData.SyncGroupRequestAssignment().setMemberId(id(a[0])).setAssignment(bytes(a[1])));
        }
        CompletableFuture<SyncGroupResponseData> future = new CompletableFuture<>();
        future.thenAccept(r -> answers.put(n, n + " sync " + error(r.errorCode()) + " " + or(r.protocolType()) + " " + or(r.protocolName()) + " " + hex(r.assignment())));
        CoordinatorResult<Void, CoordinatorRecord> result = shard.classicGroupSync(context(w[3], 5), q, future);
        if (!append(result, error) && !future.isDone())
            future.complete(new SyncGroupResponseData().setErrorCode(told(error).code()));
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
        } catch (org.apache.kafka.common.errors.ApiException e) {
            text = failure.apply(Errors.forException(e));
        }
        answers.put(n, n + " " + api + " " + text);
    }

    private void beat(int n, Errors error, String[] w) throws Exception {
        HeartbeatRequestData q = new HeartbeatRequestData().setGroupId(w[4]).setMemberId(id(w[5])).setGroupInstanceId(nil(w[6])).setGenerationId(Integer.parseInt(w[7]));
        answer(n, "beat", error, () -> shard.classicGroupHeartbeat(context(w[3], 4), q), r -> error(r.errorCode()), Errors::name);
    }

    private void leave(int n, Errors error, String[] w) throws Exception {
        LeaveGroupRequestData q = new LeaveGroupRequestData().setGroupId(w[4]);
        for (int i = 5; i < w.length; i++) {
            String[] m = w[i].split("/");
            q.members().add(new LeaveGroupRequestData.MemberIdentity().setMemberId(id(m[0])).setGroupInstanceId(nil(m[1])));
        }
        answer(n, "leave", error, () -> shard.classicGroupLeave(context(w[3], 5), q), r -> {
            StringBuilder text = new StringBuilder(error(r.errorCode()));
            r.members().forEach(m -> text.append(' ').append(name(m.memberId())).append('/').append(or(m.groupInstanceId())).append('=').append(error(m.errorCode())));
            return text.toString();
        }, e -> {
            StringBuilder text = new StringBuilder(e == Errors.UNKNOWN_MEMBER_ID ? "NONE" : e.name());
            if (e == Errors.UNKNOWN_MEMBER_ID)
                q.members().forEach(m -> text.append(' ').append(name(m.memberId())).append('/').append(or(m.groupInstanceId())).append("=UNKNOWN_MEMBER_ID"));
            return text.toString();
        });
    }

    private void commit(int n, Errors error, String[] w) throws Exception {
        OffsetCommitRequestData q = new OffsetCommitRequestData().setGroupId(w[4]).setMemberId(id(w[5])).setGroupInstanceId(nil(w[6])).
            setGenerationIdOrMemberEpoch(Integer.parseInt(w[7])).setTopics(List.of(new OffsetCommitRequestData.OffsetCommitRequestTopic().setName(w[9]).setPartitions(
                List.of(new OffsetCommitRequestData.OffsetCommitRequestPartition().setPartitionIndex(Integer.parseInt(w[10])).setCommittedOffset(Long.parseLong(w[11])).
                    setCommittedMetadata("m")))));
        answer(n, "commit", error, () -> shard.commitOffset(context(w[3], Integer.parseInt(w[8])), q),
            r -> error(r.topics().get(0).partitions().get(0).errorCode()), Errors::name);
    }

    private void commitInTransaction(int n, Errors error, String[] w) throws Exception {
        TxnOffsetCommitRequestData q = new TxnOffsetCommitRequestData().setGroupId(w[4]).setMemberId(id(w[5])).setGroupInstanceId(nil(w[6])).
            setGenerationId(Integer.parseInt(w[7])).setProducerId(Long.parseLong(w[8])).setTopics(List.of(new TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic().setName(w[9]).setPartitions(
                List.of(new TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition().setPartitionIndex(Integer.parseInt(w[10])).setCommittedOffset(Long.parseLong(w[11])).
                    setCommittedMetadata("m")))));
        answer(n, "txncommit", error, q.producerId(), () -> shard.commitTransactionalOffset(context(w[3], 5), q),
            r -> error(r.topics().get(0).partitions().get(0).errorCode()), Errors::name);
    }

    /** As CoordinatorRuntime does: the end is replayed, then appended, and taken back if that fails. */
    private void endTransaction(Errors error, String[] w) {
        shard.replayEndTransactionMarker(Long.parseLong(w[3]), (short) 1, TransactionResult.valueOf(w[4]));
        if (error != null) {
            snapshots.revertToSnapshot(offset);
            return;
        }
        written.add(w[4] + " " + w[3]);
        snapshots.idempotentCreateSnapshot(++offset);
    }

    private void fetch(int n, String[] w) {
        OffsetFetchRequestData.OffsetFetchRequestGroup q = new OffsetFetchRequestData.OffsetFetchRequestGroup().setGroupId(w[4]).setTopics(List.of(
            new OffsetFetchRequestData.OffsetFetchRequestTopics().setName(w[5]).setPartitionIndexes(List.of(Integer.parseInt(w[6])))));
        OffsetFetchResponseData.OffsetFetchResponsePartitions p = shard.fetchOffsets(q, w[7].equals("true") ? Long.MAX_VALUE : offset).topics().get(0).partitions().get(0);
        answers.put(n, n + " fetch " + error(p.errorCode()) + " " + p.committedOffset() + " " + p.committedLeaderEpoch() + " " + or(p.metadata()));
    }

    private void describe(int n, String[] w) {
        DescribeGroupsResponseData.DescribedGroup g = shard.describeGroups(context(w[3], 6), List.of(w[4]), offset).get(0);
        List<String> members = new ArrayList<>();
        for (DescribeGroupsResponseData.DescribedGroupMember m : g.members())
            members.add(name(m.memberId()) + "/" + or(m.groupInstanceId()) + "/" + m.clientId() + "/" + hex(m.memberMetadata()) + "/" + hex(m.memberAssignment()));
        answers.put(n, n + " describe " + error(g.errorCode()) + " " + g.groupState() + " " + or(g.protocolType()) + " " + or(g.protocolData()) + " " + members);
    }

    private void delete(int n, Errors error, String[] w) throws Exception {
        answer(n, "delete", error, () -> shard.deleteGroups(context(w[3], 2), List.of(w[4])), r -> error(r.iterator().next().errorCode()), Errors::name);
    }

    private void deleteOffset(int n, Errors error, String[] w) throws Exception {
        OffsetDeleteRequestData q = new OffsetDeleteRequestData().setGroupId(w[4]);
        OffsetDeleteRequestData.OffsetDeleteRequestTopic t = new OffsetDeleteRequestData.OffsetDeleteRequestTopic().setName(w[5]);
        t.partitions().add(new OffsetDeleteRequestData.OffsetDeleteRequestPartition().setPartitionIndex(Integer.parseInt(w[6])));
        q.topics().add(t);
        answer(n, "deloffset", error, () -> shard.deleteOffsets(context(w[3], 0), q),
            r -> error(r.errorCode()) + " " + error(r.topics().iterator().next().partitions().iterator().next().errorCode()), Errors::name);
    }

    private String due(String key) { return timers.containsKey(key) ? String.valueOf(timers.get(key).at) : "-"; }

    private String state() {
        List<String> all = new ArrayList<>();
        for (Object o : new TreeMap<>(groups).values()) {
            ClassicGroup g = (ClassicGroup) o;
            List<String> members = new ArrayList<>();
            for (ClassicGroupMember m : g.allMembers())
                members.add(name(m.memberId()) + ":" + or(m.groupInstanceId().orElse(null)) + ":" + (m.isAwaitingJoin() ? "J" : "") + (m.isAwaitingSync() ? "S" : "") +
                    (m.isNew() ? "N" : "") + ":" + due("heartbeat-" + g.groupId() + "-" + m.memberId()) + ":" + m.sessionTimeoutMs() + ":" + m.rebalanceTimeoutMs());
            TreeSet<String> owes = new TreeSet<>(), pending = new TreeSet<>();
            g.allPendingSyncMembers().stream().filter(g::hasMember).forEach(id -> owes.add(name(id)));
            for (String id : new ArrayList<>(names.keySet()))
                if (g.isPendingMember(id))
                    pending.add(names.get(id) + "@" + due("heartbeat-" + g.groupId() + "-" + id));
            all.add(g.groupId() + " " + g.stateAsString() + " " + (g.currentStateTimestampOrDefault() - START) + " " + g.generationId() + " " +
                or(g.protocolType().orElse(null)) + " " + or(g.protocolName().orElse(null)) + " " + name(g.leaderOrNull()) + " " +
                members + " " + pending + " " + g.numPendingJoinMembers() + " " + owes + " join=" + due("join-" + g.groupId()) + " sync=" + due("sync-" + g.groupId()));
        }
        return String.join("; ", all);
    }

    private String text(CoordinatorRecord record) {
        Object value = record.value() == null ? null : record.value().message();
        if (record.key() instanceof OffsetCommitKey k) {
            OffsetCommitValue v = (OffsetCommitValue) value;
            return "offset " + k.group() + " " + k.topic() + " " + k.partition() + (v == null ? " gone" : " " + v.offset() + " " + v.leaderEpoch() + " " + v.metadata() +
                " " + (v.commitTimestamp() - START));
        }
        GroupMetadataKey k = (GroupMetadataKey) record.key();
        if (value == null)
            return "group " + k.group() + " gone";
        GroupMetadataValue v = (GroupMetadataValue) value;
        List<String> members = new ArrayList<>();
        for (GroupMetadataValue.MemberMetadata m : v.members())
            members.add(name(m.memberId()) + "," + or(m.groupInstanceId()) + "," + m.clientId() + "," + m.rebalanceTimeout() + "," + m.sessionTimeout() + "," +
                hex(m.subscription()) + "," + hex(m.assignment()));
        return "group " + k.group() + " " + or(v.protocolType()) + " " + v.generation() + " " + or(v.protocol()) + " " + name(v.leader()) + " " +
            (v.currentStateTimestamp() - START) + " " + members;
    }
}
