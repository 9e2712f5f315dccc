import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ScheduledFuture;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import kafka.coordinator.transaction.*;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordValidationStats;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.transaction.TransactionMetadata;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.coordinator.transaction.TxnTransitMetadata;
import org.apache.kafka.coordinator.transaction.ProducerIdManager;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.common.FinalizedFeatures;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.common.TransactionVersion;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.RequestAndCompletionHandler;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import scala.Option;
import scala.Tuple2;
import scala.runtime.BoxedUnit;

/**
 * Runs Kafka's TransactionCoordinator with its TransactionStateManager and TransactionMarkerChannelManager, a clock of its
 * own, and a log and a network that do what the script says. Each line is a step and is answered with what the coordinator
 * answers, writes and asks markers for, and the state of its transactional ids:
 *
 *   world VERSION MAX_TIMEOUT EXPIRATION ABORT_INTERVAL CHECK_INTERVAL REQUEST_TIMEOUT   a new coordinator, at time 0
 *   partition ID                        the partition of 50 that keeps a transactional id
 *   record KEY VALUE                    a record in hex: what it says, and key and value as they are written again
 *   TIME init N ID TIMEOUT PID EPOCH    request N
 *   TIME add N ID PID EPOCH CLIENT TP,… CLIENT is the transaction version of the client
 *   TIME verify N ID PID EPOCH TP,…
 *   TIME end N ID PID EPOCH COMMIT CLIENT
 *   TIME describe N ID
 *   TIME list N STATES PIDS DURATION
 *   TIME written ID ERROR               what became of the oldest write of ID; ERROR "-": it is there
 *   TIME markers ID TP,…                the leaders have written them
 *   TIME tick                           what is due happens
 *   TIME log KEY VALUE                  a record, in hex, that is in the log when another coordinator takes over
 *   TIME ids BOOLEAN                    whether producer ids are at hand
 *   TIME failover EPOCH BOOLEAN         another coordinator takes over, and whether writes that are not told of are in the log
 *
 * Partitions from 9 on do not exist. Classes whose constructors want a whole broker are made without them.
 */
public class Transactions {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        Transactions world = null;
        for (String line; (line = in.readLine()) != null;) {
            String[] w = line.split(" ");
            if (w[0].equals("world")) {
                world = new Transactions(w);
                out.append("ok\n");
            } else if (w[0].equals("partition")) {
                out.append(Utils.abs(line.substring("partition ".length()).hashCode()) % 50).append('\n');
            } else if (w[0].equals("record")) {
                out.append(record(w[1], w[2])).append('\n');
            } else {
                out.append(world.step(w)).append('\n');
            }
        }
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }

    private static String record(String keyHex, String valueHex) {
        byte[] key = HexFormat.of().parseHex(keyHex);
        byte[] value = HexFormat.of().parseHex(valueHex);
        String id = TransactionLog.readTxnRecordKey(ByteBuffer.wrap(key)).toOption().get();
        TransactionMetadata t = TransactionLog.readTxnRecordValue(id, ByteBuffer.wrap(value)).get();
        ByteBuffer rest = ByteBuffer.wrap(value);
        short version = rest.getShort();
        TransactionLogValue v = new TransactionLogValue(new ByteBufferAccessor(rest), version);
        List<String> partitions = new ArrayList<>();
        if (v.transactionPartitions() != null)
            v.transactionPartitions().forEach(p -> p.partitionIds().forEach(n -> partitions.add(p.topic() + "-" + n)));
        if (t.topicPartitions().size() > partitions.size() || t.producerId() != v.producerId() || t.prevProducerId() != v.previousProducerId()
            || nextProducerId(t) != v.nextProducerId() || t.lastProducerEpoch() != -1 || t.state().id() != v.transactionStatus())
            throw new IllegalStateException(t + " of " + v);
        byte[] again = MessageUtil.toVersionPrefixedBytes(version, v);
        return id + " v" + version + " " + v.producerId() + " " + v.producerEpoch() + " " + v.transactionTimeoutMs() + " " + t.state().stateName() + " [" + String.join(",", partitions) + "] "
            + v.transactionLastUpdateTimestampMs() + " " + v.transactionStartTimestampMs() + " " + v.previousProducerId() + " " + v.nextProducerId() + " "
            + v.clientTransactionVersion() + " " + v.nextProducerEpoch() + " | " + HexFormat.of().formatHex(TransactionLog.keyToBytes(id)) + " " + HexFormat.of().formatHex(again);
    }

    private static final long START = 1_700_000_000_000L;
    private static final TopicIdPartition PARTITION = new TopicIdPartition(Uuid.ZERO_UUID, new TopicPartition("__transaction_state", 0));

    private record Entry(byte[] key, byte[] value) { }

    private static class Write {
        String name;
        List<Entry> entries = new ArrayList<>();
        long deadline;
        scala.Function1<scala.collection.Map<TopicIdPartition, ProduceResponse.PartitionResponse>, BoxedUnit> callback;
    }

    private long now = 0;
    private long begun = 0;
    private long nextId = 1000;
    private boolean idsAtHand = true;
    private int wakeups = 0;
    private final short version;
    private final TransactionConfig config;
    private final List<Entry> log = new ArrayList<>();
    private List<Write> writes = new ArrayList<>();
    private List<RequestAndCompletionHandler> asked = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private final TreeSet<String> written = new TreeSet<>();
    private final TreeMap<String, TreeSet<String>> markers = new TreeMap<>();
    private final Set<String> newMarkers = new TreeSet<>();
    private final Map<String, Runnable> periodic = new HashMap<>();
    private final Map<String, Long> retries = new HashMap<>();
    private TransactionStateManager states;
    private Markers channel;
    private TransactionCoordinator coordinator;

    private Transactions(String[] w) throws Exception {
        version = Short.parseShort(w[1]);
        config = new TransactionConfig(Integer.parseInt(w[3]), Integer.parseInt(w[2]), 1, (short) 1, 1 << 20, 1 << 20, 1, Integer.parseInt(w[4]),
            Integer.parseInt(w[5]), false, Integer.parseInt(w[6]));
        begin(5);
        flush();
    }

    @SuppressWarnings("unchecked")
    private static <T> T without(Class<T> type, Transactions world) {
        try {
            Field f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            f.setAccessible(true);
            T made = (T) ((sun.misc.Unsafe) f.get(null)).allocateInstance(type);
            type.getDeclaredField("world").set(made, world);
            return made;
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T proxy(Class<T> type, BiFunction<String, Object[], Object> answer) {
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (p, method, args) -> answer.apply(method.getName(), args));
    }

    /** The log of the partition. */
    public static class Log extends UnifiedLog {
        public Transactions world;
        public Log() throws java.io.IOException { super(0, null, null, 0, null, null, Optional.empty(), false, null); }
        @Override public long logStartOffset() { return 0; }
        @Override public FetchDataInfo read(long from, int size, FetchIsolation isolation, boolean one) {
            SimpleRecord[] records = world.log.subList((int) from, world.log.size()).stream()
                .map(e -> new SimpleRecord(0, e.key(), e.value())).toArray(SimpleRecord[]::new);
            return new FetchDataInfo(new LogOffsetMetadata(from), MemoryRecords.withRecords(from, Compression.NONE, records));
        }
    }

    /** The broker's replicas. */
    public static class Replicas extends ReplicaManager {
        public Transactions world;
        public Replicas() { super(null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null); }
        @Override public Option<UnifiedLog> getLog(TopicPartition tp) { return Option.apply(without(Log.class, world)); }
        @Override public Option<Object> getLogEndOffset(TopicPartition tp) { return Option.apply((long) world.log.size()); }
        @Override public Option<LogConfig> getLogConfig(TopicPartition tp) { return Option.apply(new LogConfig(Map.of())); }
        @Override public TopicIdPartition topicIdPartition(TopicPartition tp) { return PARTITION; }
        @Override public void appendRecords(long timeout, short acks, boolean internal, AppendOrigin origin, scala.collection.Map<TopicIdPartition, MemoryRecords> entries,
                scala.Function1<scala.collection.Map<TopicIdPartition, ProduceResponse.PartitionResponse>, BoxedUnit> callback,
                scala.Function1<scala.collection.Map<TopicIdPartition, RecordValidationStats>, BoxedUnit> stats, RequestLocal local,
                scala.collection.Map<TopicPartition, VerificationGuard> guards, short transactionVersion) {
            world.append(timeout, entries.apply(PARTITION), callback);
        }
        @Override public scala.Function1<scala.collection.Map<TopicIdPartition, RecordValidationStats>, BoxedUnit> appendRecords$default$7() { return null; }
        @Override public scala.collection.Map<TopicPartition, VerificationGuard> appendRecords$default$9() { return null; }
        @Override public short appendRecords$default$10() { return 0; }
    }

    /** The network. */
    public static class Network extends NetworkClient {
        public Transactions world;
        public Network() { super(null, (org.apache.kafka.clients.Metadata) null, "", 0, 0, 0, 0, 0, 0, 0, 0, null, false, null, null, null); }
        @Override public void wakeup() { world.wakeups++; }
    }

    private class Markers extends TransactionMarkerChannelManager {
        Markers(KafkaConfig config, MetadataCache metadata, NetworkClient network, TransactionStateManager states, Time time) { super(config, metadata, network, states, time); }
        @Override public void start() { }
        @Override public void addTxnMarkersToSend(int epoch, TransactionResult result, TransactionMetadata metadata, TxnTransitMetadata to) {
            newMarkers.add(metadata.transactionalId());
            super.addTxnMarkersToSend(epoch, result, metadata, to);
        }
    }

    private static KafkaConfig kafkaConfig() {
        Properties p = new Properties();
        p.put("process.roles", "broker");
        p.put("node.id", "1");
        p.put("listeners", "PLAINTEXT://localhost:9092");
        p.put("controller.listener.names", "CONTROLLER");
        p.put("controller.quorum.voters", "9@localhost:9093");
        return new KafkaConfig(p, false);
    }

    private static final KafkaConfig KAFKA = kafkaConfig();

    private void begin(int epoch) {
        begun = now;
        Time time = proxy(Time.class, (method, args) -> START + now);
        Scheduler scheduler = proxy(Scheduler.class, (method, args) -> {
            if (method.equals("scheduleOnce"))
                ((Runnable) args[1]).run();
            if (method.equals("schedule"))
                periodic.put((String) args[0], (Runnable) args[1]);
            return null;
        });
        MetadataCache metadata = proxy(MetadataCache.class, (method, args) -> switch (method) {
            case "features" -> new FinalizedFeatures(MetadataVersion.LATEST_PRODUCTION, Map.of("transaction.version", version), 1);
            case "getPartitionLeaderEndpoint" -> (int) args[1] >= 9 ? Optional.empty() : Optional.of(new Node(1 + (int) args[1] % 2, "host", 9092));
            default -> throw new IllegalArgumentException(method);
        });
        states = new TransactionStateManager(1, scheduler, without(Replicas.class, this), metadata, config, time, new Metrics());
        channel = new Markers(KAFKA, metadata, without(Network.class, this), states, time);
        ProducerIdManager ids = () -> {
            if (!idsAtHand)
                throw Errors.COORDINATOR_LOAD_IN_PROGRESS.exception();
            return nextId++;
        };
        coordinator = new TransactionCoordinator(config, scheduler, () -> ids, states, channel, time, new LogContext());
        coordinator.startup(() -> 1, true);
        coordinator.onElection(0, epoch);
    }

    private void append(long timeout, MemoryRecords records, scala.Function1<scala.collection.Map<TopicIdPartition, ProduceResponse.PartitionResponse>, BoxedUnit> callback) {
        Write write = new Write();
        TreeSet<String> ids = new TreeSet<>();
        for (Record r : records.records()) {
            Entry e = new Entry(Utils.toArray(r.key()), r.hasValue() ? Utils.toArray(r.value()) : null);
            write.entries.add(e);
            log.add(e);
            String id = TransactionLog.readTxnRecordKey(ByteBuffer.wrap(e.key())).toOption().get();
            ids.add(id);
            written.add("write " + (e.value() == null ? id + " gone" : text(TransactionLog.readTxnRecordValue(id, ByteBuffer.wrap(e.value())).get())));
        }
        write.name = ids.first();
        write.deadline = now + timeout;
        write.callback = callback;
        writes.add(write);
    }

    private void complete(Write write, Errors error) {
        writes.remove(write);
        Entry first = write.entries.get(0);
        if (first.value() != null && first.value()[16] >= TransactionState.COMPLETE_COMMIT.id() && error != Errors.NONE)
            retries.put(write.name, now + config.requestTimeoutMs());
        if (error != Errors.NONE && error != Errors.REQUEST_TIMED_OUT && error != Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
            log.removeAll(write.entries);
        write.callback.apply(new scala.collection.immutable.Map.Map1<>(PARTITION, new ProduceResponse.PartitionResponse(error)));
    }

    private String step(String[] w) throws Exception {
        now = Long.parseLong(w[0]);
        answers.clear();
        written.clear();
        markers.clear();
        switch (w[1]) {
            case "written" -> {
                Optional<Write> write = writes.stream().filter(x -> x.name.equals(w[2])).findFirst();
                write.ifPresentOrElse(x -> complete(x, w[3].equals("-") ? Errors.NONE : Errors.valueOf(w[3])), () -> answers.add("there is no such write"));
            }
            case "markers" -> markersWritten(w[2], partitions(w[3]));
            case "tick" -> tick();
            case "log" -> log.add(new Entry(HexFormat.of().parseHex(w[2]), HexFormat.of().parseHex(w[3])));
            case "ids" -> idsAtHand = Boolean.parseBoolean(w[2]);
            case "failover" -> failover(Integer.parseInt(w[2]), Boolean.parseBoolean(w[3]));
            default -> {
                try {
                    request(w);
                } catch (IllegalStateException | IllegalArgumentException e) {
                    answers.add(w[2] + " " + w[1] + " UNKNOWN_SERVER_ERROR" + (w[1].equals("init") || w[1].equals("end") && w[7].equals("2") ? " -1 -1" : ""));
                }
            }
        }
        flush();
        List<String> parts = new ArrayList<>(new TreeSet<>(answers));
        parts.addAll(written);
        markers.forEach((head, partitions) -> parts.add("marker " + head + " " + String.join(",", partitions)));
        TreeMap<String, TransactionMetadata> all = new TreeMap<>();
        Option<TxnMetadataCacheEntry> cache = states.transactionMetadataCache().get(0);
        cache.get().metadataPerTransactionalId().forEach(all::put);
        return String.join("; ", parts) + " | " + all.values().stream().map(t -> text(t) + " " + t.pendingState().map(TransactionState::stateName).orElse("-") + " "
            + t.prevProducerId() + " " + nextProducerId(t) + " " + t.lastProducerEpoch()).collect(Collectors.joining("; "));
    }

    private static long nextProducerId(TransactionMetadata t) {
        try {
            Field f = TransactionMetadata.class.getDeclaredField("nextProducerId");
            f.setAccessible(true);
            return (long) f.get(t);
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    private static String text(TransactionMetadata t) {
        return t.transactionalId() + " " + t.state().stateName() + " " + t.producerId() + " " + t.producerEpoch() + " " + t.txnTimeoutMs() + " ["
            + t.topicPartitions().stream().map(TopicPartition::toString).sorted().collect(Collectors.joining(",")) + "] " + t.txnStartTimestamp() + " "
            + t.txnLastUpdateTimestamp() + " " + t.clientTransactionVersion().featureLevel();
    }

    private static Set<TopicPartition> partitions(String text) {
        Set<TopicPartition> set = new java.util.HashSet<>();
        for (String tp : text.split(",")) {
            int dash = tp.lastIndexOf('-');
            set.add(new TopicPartition(tp.substring(0, dash), Integer.parseInt(tp.substring(dash + 1))));
        }
        return set;
    }

    private void request(String[] w) {
        String n = w[2];
        String id = w[3];
        RequestLocal local = RequestLocal.noCaching();
        switch (w[1]) {
            case "init" -> {
                Option<ProducerIdAndEpoch> expected = w[5].equals("-1") ? Option.empty() : Option.apply(new ProducerIdAndEpoch(Long.parseLong(w[5]), Short.parseShort(w[6])));
                coordinator.handleInitProducerId(id, Integer.parseInt(w[4]), false, false, expected, result -> {
                    answers.add(n + " init " + result.error() + " " + result.producerId() + " " + result.producerEpoch());
                    return BoxedUnit.UNIT;
                }, local);
            }
            case "add" -> coordinator.handleAddPartitionsToTransaction(id, Long.parseLong(w[4]), Short.parseShort(w[5]), partitions(w[7]), error -> {
                answers.add(n + " add " + error);
                return BoxedUnit.UNIT;
            }, TransactionVersion.fromFeatureLevel(Short.parseShort(w[6])), local);
            case "verify" -> coordinator.handleVerifyPartitionsInTransaction(id, Long.parseLong(w[4]), Short.parseShort(w[5]), partitions(w[6]), result -> {
                TreeSet<String> codes = new TreeSet<>();
                result.topicResults().forEach(t -> t.resultsByPartition().forEach(p -> codes.add(t.name() + "-" + p.partitionIndex() + "=" + Errors.forCode(p.partitionErrorCode()))));
                answers.add(n + " verify " + String.join(",", codes));
                return BoxedUnit.UNIT;
            });
            case "end" -> coordinator.handleEndTransaction(id, Long.parseLong(w[4]), Short.parseShort(w[5]), TransactionResult.forId(Boolean.parseBoolean(w[6])),
                TransactionVersion.fromFeatureLevel(Short.parseShort(w[7])), (error, pid, epoch) -> {
                    answers.add(n + " end " + error + (w[7].equals("2") ? " " + pid + " " + epoch : ""));
                    return BoxedUnit.UNIT;
                }, local);
            case "describe" -> {
                var s = coordinator.handleDescribeTransactions(id);
                TreeSet<String> list = new TreeSet<>();
                s.topics().forEach(t -> t.partitions().forEach(p -> list.add(t.topic() + "-" + p)));
                answers.add(n + " describe " + Errors.forCode(s.errorCode()) + " " + s.transactionState() + " " + s.producerId() + " " + s.producerEpoch() + " "
                    + s.transactionTimeoutMs() + " " + s.transactionStartTimeMs() + " " + String.join(",", list));
            }
            case "list" -> list(w);
            default -> throw new UnsupportedOperationException(w[1]);
        }
    }

    private void list(String[] w) {
        scala.collection.mutable.Builder<String, scala.collection.immutable.Set<String>> names = scala.collection.immutable.Set$.MODULE$.newBuilder();
        for (String name : w[3].split(","))
            if (!name.equals("-"))
                names.addOne(name);
        scala.collection.mutable.Builder<Object, scala.collection.immutable.Set<Object>> ids = scala.collection.immutable.Set$.MODULE$.newBuilder();
        for (String pid : w[4].split(","))
            if (!pid.equals("-"))
                ids.addOne(Long.parseLong(pid));
        var listed = coordinator.handleListTransactions(ids.result(), names.result(), Long.parseLong(w[5]), null);
        TreeSet<String> all = new TreeSet<>();
        listed.transactionStates().forEach(t -> all.add(t.transactionalId() + "=" + t.producerId() + "=" + t.transactionState()));
        answers.add(w[2] + " list " + Errors.forCode(listed.errorCode()) + " " + listed.unknownStateFilters().stream().sorted().toList() + " " + String.join(",", all));
    }

    /** Answers all requests for markers that are out: those that are written, and of the others that it took too long. */
    private void markersWritten(String id, Set<TopicPartition> partitions) throws Exception {
        generate(); // which tries writes again
        List<RequestAndCompletionHandler> out = asked;
        asked = new ArrayList<>();
        for (RequestAndCompletionHandler request : out) {
            Map<Long, Map<TopicPartition, Errors>> errors = new HashMap<>();
            for (PendingCompleteTxnAndMarkerEntry e : entries(request))
                for (TopicPartition tp : e.txnMarkerEntry().partitions()) {
                    boolean done = e.pendingCompleteTxn().transactionalId().equals(id) && partitions.contains(tp);
                    errors.computeIfAbsent(e.txnMarkerEntry().producerId(), p -> new HashMap<>()).put(tp, done ? Errors.NONE : Errors.REQUEST_TIMED_OUT);
                }
            request.handler.onComplete(new ClientResponse(new RequestHeader(ApiKeys.WRITE_TXN_MARKERS, (short) 2, "", 0), null, "1", now, now, false, null, null,
                new WriteTxnMarkersResponse(errors)));
        }
    }

    @SuppressWarnings("unchecked")
    private static List<PendingCompleteTxnAndMarkerEntry> entries(RequestAndCompletionHandler request) throws Exception {
        Field f = request.handler.getClass().getDeclaredField("pendingCompleteTxnAndMarkerEntries");
        f.setAccessible(true);
        return (List<PendingCompleteTxnAndMarkerEntry>) f.get(request.handler);
    }

    /** Lets the thread that sends markers do its work, if it was woken up. */
    private void flush() throws Exception {
        if (wakeups == 0)
            return;
        wakeups = 0;
        generate();
    }

    private void generate() throws Exception {
        retries.clear();
        Collection<RequestAndCompletionHandler> requests = channel.generateRequests();
        for (RequestAndCompletionHandler request : requests) {
            for (PendingCompleteTxnAndMarkerEntry e : entries(request)) {
                WriteTxnMarkersRequest.TxnMarkerEntry m = e.txnMarkerEntry();
                String id = e.pendingCompleteTxn().transactionalId();
                if (newMarkers.contains(id))
                    for (TopicPartition tp : m.partitions())
                        markers.computeIfAbsent(id + " " + m.transactionResult() + " " + m.producerId() + " " + m.producerEpoch() + " " + m.coordinatorEpoch() + " "
                            + m.transactionVersion(), k -> new TreeSet<>()).add(tp.toString());
            }
            asked.add(request);
        }
        newMarkers.clear();
    }

    private void tick() throws Exception {
        for (boolean found = true; found;) {
            Optional<Write> late = writes.stream().filter(w -> w.deadline <= now).findFirst();
            found = late.isPresent();
            late.ifPresent(w -> complete(w, Errors.REQUEST_TIMED_OUT));
        }
        if (now > begun && (now - begun) % config.abortTimedOutTransactionsIntervalMs() == 0)
            try {
                periodic.get("transaction-abort").run();
            } catch (IllegalStateException e) { } // as the scheduler does
        if (now > begun && (now - begun) % config.removeExpiredTransactionalIdsIntervalMs() == 0)
            periodic.get("transactionalId-expiration").run();
        if (retries.values().stream().anyMatch(at -> at <= now))
            generate();
    }

    private void failover(int epoch, boolean keep) throws Exception {
        List<Write> pending = writes;
        writes = new ArrayList<>();
        coordinator.onResignation(0, Option.apply(epoch - 1));
        for (Write w : new ArrayList<>(pending)) {
            if (!keep)
                log.removeAll(w.entries);
            w.callback.apply(new scala.collection.immutable.Map.Map1<>(PARTITION, new ProduceResponse.PartitionResponse(Errors.NOT_LEADER_OR_FOLLOWER)));
        }
        asked.clear();
        wakeups = 0;
        newMarkers.clear();
        retries.clear();
        begin(epoch);
    }
}
