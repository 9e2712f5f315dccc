import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;

import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Keeps one partition's log, a UnifiedLog, and answers each command of standard input with one line.
 *
 *   open DIRECTORY NOW KEY=VALUE…        ok
 *   recover DIRECTORY NOW KEY=VALUE…     ok, after a log without a clean shutdown has been recovered
 *   lead EPOCH                           ok, after the epoch has begun at the log end offset
 *   append BATCH-IN-HEX EPOCH NOW        BASE-OFFSET LAST-OFFSET LOG-APPEND-TIME, or the error's name
 *   time TIMESTAMP                       OFFSET TIMESTAMP LEADER-EPOCH, each -1 if there is none
 *   read OFFSET MAX-BYTES HW ONE         BYTES-IN-HEX FIRST-ENTRY-INCOMPLETE, or the error's name
 *   segments                             log end offset, then BASE:LOG:INDEX:TIMEINDEX in hex for each
 *   epochs                               leader-epoch-checkpoint with / for line ends
 */
public class Log {
    private static final HexFormat HEX = HexFormat.of();
    private static final Clock CLOCK = new Clock();
    private static File directory;
    private static UnifiedLog log;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            try {
                System.out.println(answer(line.split(" ")));
            } catch (RecordValidationException e) {
                System.out.println(Errors.forException(e.invalidException()).name()); // as ReplicaManager does
            } catch (Exception e) {
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
            case "lead":
                log.assignEpochStartOffset(Integer.parseInt(words[1]), log.logEndOffset());
                return "ok";
            case "time":
                return offsetForTime(Long.parseLong(words[1]));
            case "read":
                return read(Long.parseLong(words[1]), Integer.parseInt(words[2]), Long.parseLong(words[3]), Boolean.parseBoolean(words[4]));
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
        Map<String, String> settings = new HashMap<>();
        for (int i = 3; i < words.length; i++) {
            String[] setting = words[i].split("=");
            settings.put(setting[0], setting[1]);
        }
        log = UnifiedLog.create(directory, new LogConfig(settings), 0, 0, new Idle(), new BrokerTopicStats(), CLOCK,
            Integer.MAX_VALUE, new ProducerStateManagerConfig(Integer.MAX_VALUE, false), Integer.MAX_VALUE,
            new LogDirFailureChannel(1), cleanShutdown, Optional.empty());
        return "ok";
    }

    private static String append(byte[] batch, int epoch, long now) throws Exception {
        CLOCK.now = now;
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(batch));
        ProduceRequest.validateRecords((short) 12, records);
        LogAppendInfo appended = log.appendAsLeader(records, epoch);
        log.activeSegment().setLastModified(now); // a file system would ask the machine's clock
        return appended.firstOffset() + " " + appended.lastOffset() + " " + appended.logAppendTime();
    }

    private static String offsetForTime(long timestamp) {
        return log.fetchOffsetByTimestamp(timestamp, Optional.empty()).timestampAndOffsetOpt()
            .map(found -> found.offset + " " + found.timestamp + " " + found.leaderEpoch.orElse(-1))
            .orElse("-1 -1 -1");
    }

    private static String read(long offset, int maxBytes, long highWatermark, boolean minOneMessage) throws Exception {
        log.updateHighWatermark(highWatermark);
        FetchDataInfo read = log.read(offset, maxBytes, FetchIsolation.HIGH_WATERMARK, minOneMessage);
        ByteBuffer bytes = ByteBuffer.allocate(read.records.sizeInBytes());
        if (read.records instanceof FileRecords)
            ((FileRecords) read.records).readInto(bytes, 0);
        return HEX.formatHex(bytes.array()) + " " + read.firstEntryIncomplete;
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

    /** An index file's entries. Only the active segment's file goes on after them. */
    private static String index(File file, int size, boolean active) throws Exception {
        byte[] bytes = Files.readAllBytes(file.toPath());
        if (!active)
            return HEX.formatHex(bytes);
        for (int i = size; i < bytes.length; i++)
            if (bytes[i] != 0)
                throw new IllegalStateException(file + ": byte " + i + " is not 0");
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

    /** A scheduler that never runs what it is given: syncing after a roll, deleting files. */
    private static class Idle implements Scheduler {
        public void startup() { }
        public void shutdown() { }
        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) { return null; }
        public void resizeThreadPool(int size) { }
    }
}
