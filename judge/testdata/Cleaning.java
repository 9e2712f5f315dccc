import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.CleanerStats;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogCleanerManager;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.PreCleanStats;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Keeps one partition's log, a UnifiedLog, with its cleaner, and answers each command of standard input with one line.
 *
 *   open DIRECTORY NOW KEY=VALUE…        ok; log.cleaner.dedupe.buffer.size may be among the settings
 *   follow xBATCHES-IN-HEX NOW           LAST-OFFSET
 *   mark HIGH-WATERMARK                  the last stable offset
 *   log-start OFFSET                     whether the log start offset moved
 *   retain NOW                           how many old segments went, and the log start offset
 *   clean NOW                            FIRST-DIRTY FIRST-UNCLEANABLE RESET CLEAN-BYTES CLEANABLE-BYTES, then the first offset
 *                                        that was not cleaned, or none if the log is not eligible
 *   checkpoint                           what is in cleaner-offset-checkpoint, or none
 *   remove NOW                           ok, after what has waited long enough has been removed
 *   restart NOW                          ok, after a clean shutdown and a start
 *   read OFFSET MAX-BYTES ONE            BYTES-IN-HEX, or the error's name; up to the high watermark
 *   time TIMESTAMP                       OFFSET TIMESTAMP, each -1 if there is none
 *   files                                NAME:CONTENT-IN-HEX for each file of the directory
 *   records                              for each segment its batches, header fields and records, decompressed
 */
public class Cleaning {
    private static final HexFormat HEX = HexFormat.of();
    private static final Clock CLOCK = new Clock();
    private static File directory;
    private static LogConfig config;
    private static int dedupeBytes;
    private static Later scheduler;
    private static UnifiedLog log;
    private static LogCleanerManager manager;
    private static final ConcurrentHashMap<TopicPartition, UnifiedLog> LOGS = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            try {
                System.out.println(answer(line.split(" ")));
            } catch (Exception e) {
                e.printStackTrace();
                System.out.println(e.toString().replace('\n', ' '));
            }
        }
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "open":
                return open(words);
            case "follow":
                CLOCK.now = Long.parseLong(words[2]);
                ByteBuffer batches = ByteBuffer.wrap(HEX.parseHex(words[1].substring(1)));
                long last = log.appendAsFollower(MemoryRecords.readableRecords(batches), Integer.MAX_VALUE).lastOffset();
                touch(log.activeSegment());
                return String.valueOf(last);
            case "mark":
                log.updateHighWatermark(Long.parseLong(words[1]));
                return String.valueOf(log.lastStableOffset());
            case "log-start":
                return String.valueOf(log.maybeIncrementLogStartOffset(Long.parseLong(words[1]), LogStartOffsetIncrementReason.ClientRecordDeletion));
            case "retain":
                CLOCK.now = Long.parseLong(words[1]);
                LogSegment active = log.activeSegment();
                int deleted = log.deleteOldSegments();
                if (log.activeSegment() != active)
                    touch(log.activeSegment());
                return deleted + " " + log.logStartOffset();
            case "clean":
                return clean(Long.parseLong(words[1]));
            case "checkpoint":
                Long offset = manager.allCleanerCheckpoints().get(log.topicPartition());
                return offset == null ? "none" : offset.toString();
            case "remove":
                CLOCK.now = Long.parseLong(words[1]);
                scheduler.run();
                return "ok";
            case "restart":
                CLOCK.now = Long.parseLong(words[1]);
                log.flush(true);
                log.close();
                load(true);
                log.updateHighWatermark(log.logEndOffset());
                return "ok";
            case "read":
                return read(Long.parseLong(words[1]), Integer.parseInt(words[2]), Boolean.parseBoolean(words[3]));
            case "time":
                return log.fetchOffsetByTimestamp(Long.parseLong(words[1]), Optional.empty()).timestampAndOffsetOpt()
                    .map(found -> found.offset + " " + found.timestamp).orElse("-1 -1");
            case "files":
                return files();
            case "records":
                return records();
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static String open(String[] words) throws Exception {
        if (log != null)
            log.closeHandlers();
        directory = new File(words[1]);
        Files.createDirectories(directory.toPath());
        CLOCK.now = Long.parseLong(words[2]);
        Map<String, String> settings = new HashMap<>();
        for (int i = 3; i < words.length; i++) {
            String[] setting = words[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        dedupeBytes = Integer.parseInt(settings.remove("log.cleaner.dedupe.buffer.size"));
        config = new LogConfig(settings);
        Properties properties = new Properties();
        properties.putAll(settings);
        LogConfig.validate(properties);
        load(true);
        if (manager != null)
            manager.removeMetrics();
        manager = new LogCleanerManager(List.of(log.parentDirFile()), LOGS, new LogDirFailureChannel(1));
        return "ok";
    }

    private static void load(boolean cleanShutdown) throws Exception {
        scheduler = new Later();
        log = UnifiedLog.create(directory, config, 0, 0, scheduler, new BrokerTopicStats(), CLOCK,
            Integer.MAX_VALUE, new ProducerStateManagerConfig(Integer.MAX_VALUE, false), Integer.MAX_VALUE,
            new LogDirFailureChannel(1), cleanShutdown, Optional.empty());
        for (LogSegment segment : log.logSegments())
            touch(segment);
        LOGS.clear();
        LOGS.put(log.topicPartition(), log);
    }

    private static String clean(long now) throws Exception {
        CLOCK.now = now;
        Long checkpoint = manager.allCleanerCheckpoints().get(log.topicPartition());
        LogCleanerManager.OffsetsToClean range = LogCleanerManager.cleanableOffsets(log, Optional.ofNullable(checkpoint), now);
        LogToClean candidate = new LogToClean(log, range.firstDirtyOffset(), range.firstUncleanableDirtyOffset(), false);
        String known = candidate.firstDirtyOffset() + " " + candidate.firstUncleanableOffset() + " " + range.forceUpdateCheckpoint()
            + " " + candidate.cleanBytes() + " " + candidate.cleanableBytes() + " ";
        Optional<LogToClean> grabbed = manager.grabFilthiestCompactedLog(CLOCK, new PreCleanStats());
        if (grabbed.isEmpty())
            return known + "none";
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(dedupeBytes), 1 << 20, 32 << 20, 0.9,
            new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", CLOCK), CLOCK, partition -> { });
        Map.Entry<Long, CleanerStats> done;
        try {
            done = cleaner.clean(grabbed.get());
        } catch (IllegalArgumentException e) {
            if (e.getMessage().startsWith("Attempt to append to a full"))
                return known + "index full";
            throw e;
        }
        manager.doneCleaning(log.topicPartition(), log.parentDirFile(), done.getKey());
        return known + done.getKey();
    }

    private static String read(long offset, int maxBytes, boolean minOneMessage) throws Exception {
        FetchDataInfo read;
        try {
            read = log.read(offset, maxBytes, FetchIsolation.HIGH_WATERMARK, minOneMessage);
        } catch (OffsetOutOfRangeException e) {
            return "OFFSET_OUT_OF_RANGE";
        }
        ByteBuffer bytes = ByteBuffer.allocate(read.records.sizeInBytes());
        if (read.records instanceof FileRecords)
            ((FileRecords) read.records).readInto(bytes, 0);
        return "x" + HEX.formatHex(bytes.array());
    }

    /** Says when the file was last written: a file system would ask the machine's clock. */
    private static void touch(LogSegment segment) {
        if (!segment.log().file().setLastModified(CLOCK.now))
            throw new IllegalStateException(segment.toString());
    }

    private static String files() throws Exception {
        StringBuilder out = new StringBuilder().append(log.logStartOffset()).append(' ').append(log.logEndOffset());
        LogSegment active = log.activeSegment();
        active.offsetIndex(); // makes the file if nobody has needed it yet
        active.timeIndex();
        File[] files = directory.listFiles();
        Arrays.sort(files);
        for (File file : files) {
            byte[] bytes = Files.readAllBytes(file.toPath());
            // Only the active segment's index files go on after their entries.
            if (file.equals(active.offsetIndexFile()))
                bytes = Arrays.copyOf(bytes, active.offsetIndex().sizeInBytes());
            else if (file.equals(active.timeIndexFile()))
                bytes = Arrays.copyOf(bytes, active.timeIndex().sizeInBytes());
            out.append(' ').append(file.getName()).append(':').append(HEX.formatHex(bytes));
        }
        return out.toString();
    }

    private static String records() throws Exception {
        StringBuilder out = new StringBuilder().append(log.logStartOffset()).append(' ').append(log.logEndOffset());
        for (LogSegment segment : log.logSegments()) {
            out.append(' ').append(segment.baseOffset());
            for (RecordBatch b : segment.log().batches()) {
                ByteBuffer buffer = ByteBuffer.allocate(b.sizeInBytes());
                b.writeTo(buffer);
                buffer.flip();
                DefaultRecordBatch batch = (DefaultRecordBatch) (MutableRecordBatch) MemoryRecords.readableRecords(buffer).batches().iterator().next();
                batch.ensureValid();
                out.append(' ').append(batch.baseOffset()).append('/').append(batch.lastOffset()).append('/').append(batch.partitionLeaderEpoch())
                    .append('/').append(buffer.getShort(21)).append('/').append(buffer.getLong(27)).append('/').append(batch.maxTimestamp())
                    .append('/').append(batch.producerId()).append('/').append(batch.producerEpoch()).append('/').append(batch.baseSequence())
                    .append('/').append(batch.countOrNull());
                for (Record record : batch) {
                    out.append(':').append(record.offset()).append('/').append(record.timestamp()).append('/').append(hex(record.key())).append('/').append(hex(record.value()));
                    for (Header header : record.headers())
                        out.append('/').append(header.key()).append('=').append(header.value() == null ? "-" : HEX.formatHex(header.value()));
                }
            }
        }
        return out.toString();
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null)
            return "-";
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HEX.formatHex(copy);
    }

    /** A clock that stands still until it is set. */
    private static class Clock implements Time {
        private long now;

        public long milliseconds() { return now; }
        public long nanoseconds() { return now * 1_000_000; }
        public void sleep(long ms) { throw new UnsupportedOperationException(); }
        public void waitObject(Object o, Supplier<Boolean> condition, long deadline) { throw new UnsupportedOperationException(); }
    }

    /** A scheduler that runs at once what is not to wait, and keeps what is: deleting files. What is to be repeated never runs. */
    private static class Later implements Scheduler {
        private final List<Task> tasks = new ArrayList<>();

        public void startup() { }
        public void shutdown() { }
        public void resizeThreadPool(int size) { }

        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) {
            if (period < 0) {
                if (delay == 0)
                    task.run();
                else
                    tasks.add(new Task(CLOCK.now + delay, task));
            }
            return new Never();
        }

        private void run() {
            tasks.sort(Comparator.comparingLong(Task::at));
            while (!tasks.isEmpty() && tasks.get(0).at() <= CLOCK.now)
                tasks.remove(0).task().run();
        }
    }

    private record Task(long at, Runnable task) { }

    /** What will not happen, but can be called off. */
    private static class Never extends CompletableFuture<Object> implements ScheduledFuture<Object> {
        public long getDelay(TimeUnit unit) { return Long.MAX_VALUE; }
        public int compareTo(Delayed other) { return 0; }
    }
}
