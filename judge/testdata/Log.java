import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Keeps one partition's log, a UnifiedLog, and answers each command of standard input with one line.
 *
 *   open DIRECTORY NOW KEY=VALUE…        ok; producer.id.expiration.ms may be among the settings
 *   recover DIRECTORY NOW KEY=VALUE…     ok, after a log without a clean shutdown has been recovered
 *   stop                                 ok, after a clean shutdown; then start
 *   kill BYTES                           ok, after the active segment's file has lost so many bytes; then start
 *   start NOW CLEAN RECOVERY-POINT       ok, after the log has been loaded again
 *   lead EPOCH                           ok, after the epoch has begun at the log end offset
 *   append BATCH-IN-HEX EPOCH NOW        BASE-OFFSET LAST-OFFSET LOG-APPEND-TIME, or the error's name
 *   marker TYPE PRODUCER-ID PRODUCER-EPOCH COORDINATOR-EPOCH TRANSACTION-VERSION EPOCH NOW
 *                                        as append, of a transaction's marker
 *   follow BATCHES-IN-HEX NOW            LAST-OFFSET, or the error's name
 *   truncate OFFSET                      ok
 *   restart-at OFFSET                    ok, after the log has been truncated fully
 *   log-start OFFSET                     whether the log start offset moved
 *   expire NOW                           ok, after old producers have been forgotten
 *   flush OFFSET                         ok
 *   epoch-end EPOCH                      EPOCH END-OFFSET, or none
 *   state                                log start and end offset, recovery point, producers with their last batches
 *   last-stable HW                       the last stable offset
 *   snapshots                            NAME:CONTENT-IN-HEX for each snapshot file
 *   txnindexes                           the same for each transaction index
 *   time TIMESTAMP                       OFFSET TIMESTAMP LEADER-EPOCH, each -1 if there is none
 *   read OFFSET MAX-BYTES HW ONE         BYTES-IN-HEX FIRST-ENTRY-INCOMPLETE, or the error's name
 *   committed OFFSET MAX-BYTES HW ONE    the same up to the last stable offset, then PRODUCER-ID@FIRST-OFFSET for each aborted transaction
 *   segments                             log end offset, then BASE:LOG:INDEX:TIMEINDEX in hex for each
 *   epochs                               leader-epoch-checkpoint with / for line ends
 */
public class Log {
    private static final HexFormat HEX = HexFormat.of();
    private static final Clock CLOCK = new Clock();
    private static File directory;
    private static Map<String, String> settings;
    private static UnifiedLog log;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            try {
                System.out.println(answer(line.split(" ")));
            } catch (RecordValidationException e) {
                System.out.println(Errors.forException(e.invalidException()).name()); // as ReplicaManager does
            } catch (Exception e) {
                if (Errors.forException(e) == Errors.UNKNOWN_SERVER_ERROR)
                    e.printStackTrace();
                System.out.println(Errors.forException(e).name());
            }
        }
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "open":
                return open(words, true);
            case "recover":
                return open(words, false);
            case "append":
                return append(HEX.parseHex(words[1]), Integer.parseInt(words[2]), Long.parseLong(words[3]));
            case "marker":
                return marker(words);
            case "stop":
                log.flush(true);
                log.close();
                log = null;
                return "ok";
            case "kill":
                return kill(Long.parseLong(words[1]));
            case "start":
                CLOCK.now = Long.parseLong(words[1]);
                load(Boolean.parseBoolean(words[2]), Long.parseLong(words[3]));
                return "ok";
            case "follow":
                return follow(HEX.parseHex(words[1].substring(1)), Long.parseLong(words[2]));
            case "truncate":
                log.truncateTo(Long.parseLong(words[1]));
                touch(log.activeSegment());
                return "ok";
            case "restart-at":
                log.truncateFullyAndStartAt(Long.parseLong(words[1]), Optional.empty());
                touch(log.activeSegment());
                return "ok";
            case "log-start":
                log.updateHighWatermark(log.logEndOffset());
                return String.valueOf(log.maybeIncrementLogStartOffset(Long.parseLong(words[1]), LogStartOffsetIncrementReason.ClientRecordDeletion));
            case "expire":
                CLOCK.now = Long.parseLong(words[1]);
                log.producerStateManager().removeExpiredProducers(CLOCK.now);
                return "ok";
            case "flush":
                log.flushUptoOffsetExclusive(Long.parseLong(words[1]));
                return "ok";
            case "epoch-end":
                return log.endOffsetForEpoch(Integer.parseInt(words[1])).map(end -> end.epoch() + " " + end.offset()).orElse("none");
            case "state":
                return state();
            case "last-stable":
                log.updateHighWatermark(Long.parseLong(words[1]));
                return String.valueOf(log.lastStableOffset());
            case "snapshots":
            case "txnindexes":
                return files(words[0], words[0].equals("snapshots") ? ".snapshot" : ".txnindex");
            case "lead":
                log.assignEpochStartOffset(Integer.parseInt(words[1]), log.logEndOffset());
                return "ok";
            case "time":
                return offsetForTime(Long.parseLong(words[1]));
            case "read":
                return read(words, FetchIsolation.HIGH_WATERMARK);
            case "committed":
                return read(words, FetchIsolation.TXN_COMMITTED);
            case "segments":
                return segments();
            case "epochs":
                return Files.readString(new File(directory, "leader-epoch-checkpoint").toPath()).replace('\n', '/');
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static String open(String[] words, boolean cleanShutdown) throws Exception {
        if (log != null)
            log.closeHandlers(); // not close: that writes a last time index entry
        directory = new File(words[1]);
        Files.createDirectories(directory.toPath());
        CLOCK.now = Long.parseLong(words[2]);
        settings = new HashMap<>();
        for (int i = 3; i < words.length; i++) {
            String[] setting = words[i].split("=");
            settings.put(setting[0], setting[1]);
        }
        load(cleanShutdown, 0);
        return "ok";
    }

    private static void load(boolean cleanShutdown, long recoveryPoint) throws Exception {
        Map<String, String> topic = new HashMap<>(settings);
        String expiration = topic.remove("producer.id.expiration.ms");
        int expirationMs = expiration == null ? Integer.MAX_VALUE : Integer.parseInt(expiration);
        log = UnifiedLog.create(directory, new LogConfig(topic), 0, recoveryPoint, new AtOnce(), new BrokerTopicStats(), CLOCK,
            Integer.MAX_VALUE, new ProducerStateManagerConfig(expirationMs, false), Integer.MAX_VALUE,
            new LogDirFailureChannel(1), cleanShutdown, Optional.empty());
        for (LogSegment segment : log.logSegments()) {
            touch(segment);
            segment.largestRecordTimestamp(); // else it is looked up only when needed, which a truncation may come before
        }
    }

    /** Leaves the log as a process that is killed does, and cuts the active segment's file. */
    private static String kill(long bytes) throws Exception {
        File active = log.activeSegment().log().file();
        log.closeHandlers();
        log = null;
        try (RandomAccessFile file = new RandomAccessFile(active, "rw")) {
            file.setLength(file.length() - bytes);
        }
        return "ok";
    }

    /** Says when the file was last written: a file system would ask the machine's clock. */
    private static void touch(LogSegment segment) {
        if (!segment.log().file().setLastModified(CLOCK.now))
            throw new IllegalStateException(segment.toString());
    }

    private static String follow(byte[] batches, long now) throws Exception {
        CLOCK.now = now;
        LogAppendInfo appended = log.appendAsFollower(MemoryRecords.readableRecords(ByteBuffer.wrap(batches)), Integer.MAX_VALUE);
        touch(log.activeSegment());
        return String.valueOf(appended.lastOffset());
    }

    private static String state() {
        StringBuilder out = new StringBuilder();
        out.append(log.logStartOffset()).append(' ').append(log.logEndOffset()).append(' ').append(log.recoveryPoint());
        log.producerStateManager().activeProducers().values().stream().sorted(Comparator.comparing(ProducerStateEntry::producerId)).forEach(p -> {
            out.append(' ').append(p.producerId()).append('/').append(p.producerEpoch()).append('/').append(p.lastTimestamp())
                .append('/').append(p.coordinatorEpoch()).append('/').append(p.currentTxnFirstOffset().orElse(-1));
            for (BatchMetadata b : p.batchMetadata())
                out.append(':').append(b.firstSeq()).append('-').append(b.lastSeq()).append('@').append(b.firstOffset()).append('-').append(b.lastOffset())
                    .append('T').append(b.timestamp());
        });
        return out.toString();
    }

    private static String files(String answer, String suffix) throws Exception {
        StringBuilder out = new StringBuilder(answer);
        File[] files = directory.listFiles((dir, name) -> name.endsWith(suffix));
        Arrays.sort(files);
        for (File file : files)
            out.append(' ').append(file.getName()).append(':').append(HEX.formatHex(Files.readAllBytes(file.toPath())));
        return out.toString();
    }

    private static String append(byte[] batch, int epoch, long now) throws Exception {
        CLOCK.now = now;
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(batch));
        ProduceRequest.validateRecords((short) 12, records);
        return written(log.appendAsLeader(records, epoch));
    }

    private static String written(LogAppendInfo appended) {
        touch(log.activeSegment());
        return appended.firstOffset() + " " + appended.lastOffset() + " " + appended.logAppendTime();
    }

    /** Ends a transaction as KafkaApis.handleWriteTxnMarkersRequest and ReplicaManager do. */
    private static String marker(String[] words) {
        CLOCK.now = Long.parseLong(words[7]);
        EndTransactionMarker marker = new EndTransactionMarker(ControlRecordType.valueOf(words[1]), Integer.parseInt(words[4]));
        MemoryRecords records = MemoryRecords.withEndTransactionMarker(CLOCK.now, Long.parseLong(words[2]), Short.parseShort(words[3]), marker);
        return written(log.appendAsLeader(records, Integer.parseInt(words[6]), AppendOrigin.COORDINATOR,
            RequestLocal.noCaching(), VerificationGuard.SENTINEL, Short.parseShort(words[5])));
    }

    private static String offsetForTime(long timestamp) {
        return log.fetchOffsetByTimestamp(timestamp, Optional.empty()).timestampAndOffsetOpt()
            .map(found -> found.offset + " " + found.timestamp + " " + found.leaderEpoch.orElse(-1))
            .orElse("-1 -1 -1");
    }

    private static String read(String[] words, FetchIsolation isolation) throws Exception {
        log.updateHighWatermark(Long.parseLong(words[3]));
        FetchDataInfo read = log.read(Long.parseLong(words[1]), Integer.parseInt(words[2]), isolation, Boolean.parseBoolean(words[4]));
        ByteBuffer bytes = ByteBuffer.allocate(read.records.sizeInBytes());
        if (read.records instanceof FileRecords)
            ((FileRecords) read.records).readInto(bytes, 0);
        StringBuilder out = new StringBuilder().append(HEX.formatHex(bytes.array())).append(' ').append(read.firstEntryIncomplete);
        read.abortedTransactions.ifPresent(list -> list.forEach(aborted ->
            out.append(' ').append(aborted.producerId()).append('@').append(aborted.firstOffset())));
        return out.toString();
    }

    private static String segments() throws Exception {
        StringBuilder out = new StringBuilder().append(log.logEndOffset());
        for (LogSegment segment : log.logSegments()) {
            boolean active = segment == log.activeSegment();
            out.append(' ').append(segment.baseOffset())
                .append(':').append(HEX.formatHex(Files.readAllBytes(segment.log().file().toPath())))
                .append(':').append(index(segment.offsetIndexFile(), segment.offsetIndex().sizeInBytes(), active))
                .append(':').append(index(segment.timeIndexFile(), segment.timeIndex().sizeInBytes(), active));
        }
        return out.toString();
    }

    /** An index file's entries. Only the active segment's file goes on after them, with zeros or what a truncation left. */
    private static String index(File file, int size, boolean active) throws Exception {
        byte[] bytes = Files.readAllBytes(file.toPath());
        if (!active)
            return HEX.formatHex(bytes);
        return HEX.formatHex(Arrays.copyOf(bytes, size));
    }

    /** A clock that stands still until it is set. */
    private static class Clock implements Time {
        private long now;

        public long milliseconds() { return now; }
        public long nanoseconds() { return now * 1_000_000; }
        public void sleep(long ms) { throw new UnsupportedOperationException(); }
        public void waitObject(Object o, Supplier<Boolean> condition, long deadline) { throw new UnsupportedOperationException(); }
    }

    /**
     * A scheduler that runs at once what is not to wait: syncing after a roll, writing leader epochs. What is to
     * wait, as deleting files, or to be repeated never runs.
     */
    private static class AtOnce implements Scheduler {
        public void startup() { }
        public void shutdown() { }
        public void resizeThreadPool(int size) { }
        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) {
            if (delay == 0 && period < 0)
                task.run();
            return new Never();
        }
    }

    /** What will not happen, but can be called off. */
    private static class Never extends CompletableFuture<Object> implements ScheduledFuture<Object> {
        public long getDelay(TimeUnit unit) { return Long.MAX_VALUE; }
        public int compareTo(Delayed other) { return 0; }
    }
}
