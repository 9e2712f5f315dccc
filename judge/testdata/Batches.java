import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Utils;

/**
 * Answers each line of standard input with one line.
 *
 *   BATCH CODEC TIMESTAMP-TYPE LOG-APPEND-TIME BASE LEADER-EPOCH PRODUCER-ID EPOCH SEQUENCE TRANSACTIONAL RECORD…
 *       what Kafka reads in the batch, then " | " and the batch, in hex, that it builds itself
 *   marker TYPE BASE TIMESTAMP LEADER-EPOCH PRODUCER-ID EPOCH COORDINATOR-EPOCH
 *       the batch of a transaction marker, in hex
 *
 * A record is TIMESTAMP:KEY:VALUE:HEADER=VALUE… in hex, "-" for null; one that was read begins with
 * OFFSET@TIMESTAMP.
 */
public class Batches {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            System.out.println(words[0].equals("marker") ? marker(words) : read(HEX.parseHex(words[0])) + " | " + build(words));
        }
    }

    private static String read(byte[] bytes) {
        List<String> said = new ArrayList<>();
        for (MutableRecordBatch b : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            b.ensureValid();
            said.add(b.checksum() + " " + b.baseOffset() + " " + b.lastOffset() + " " + b.nextOffset() + " " + b.sizeInBytes() + " " +
                b.partitionLeaderEpoch() + " " + b.maxTimestamp() + " " + b.producerId() + " " + b.producerEpoch() + " " +
                b.baseSequence() + " " + b.lastSequence() + " " + b.countOrNull() + " " + b.compressionType().name + " " +
                b.timestampType() + " " + b.isTransactional() + " " + b.isControlBatch());
            for (Record record : b) {
                record.ensureValid();
                said.add(record.offset() + "@" + record.timestamp() + ":" + text(record));
            }
        }
        return String.join(" ", said);
    }

    private static String text(Record record) {
        StringBuilder text = new StringBuilder(hexOrNull(record.key())).append(':').append(hexOrNull(record.value()));
        for (Header header : record.headers())
            text.append(':').append(HEX.formatHex(header.key().getBytes(StandardCharsets.UTF_8)))
                .append('=').append(header.value() == null ? "-" : HEX.formatHex(header.value()));
        return text.toString();
    }

    private static String hexOrNull(ByteBuffer bytes) {
        return bytes == null ? "-" : HEX.formatHex(Utils.toArray(bytes));
    }

    private static String build(String[] words) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1024), RecordBatch.MAGIC_VALUE_V2,
            Compression.of(words[1]).build(), TimestampType.forName(words[2]), Long.parseLong(words[4]), Long.parseLong(words[3]),
            Long.parseLong(words[6]), Short.parseShort(words[7]), Integer.parseInt(words[8]), Boolean.parseBoolean(words[9]),
            Integer.parseInt(words[5]));
        for (int i = 10; i < words.length; i++) {
            String[] parts = words[i].split(":", -1);
            Header[] headers = new Header[parts.length - 3];
            for (int h = 0; h < headers.length; h++) {
                String[] pair = parts[3 + h].split("=", -1);
                headers[h] = new RecordHeader(new String(HEX.parseHex(pair[0]), StandardCharsets.UTF_8), bytesOrNull(pair[1]));
            }
            builder.append(Long.parseLong(parts[0]), bytesOrNull(parts[1]), bytesOrNull(parts[2]), headers);
        }
        return HEX.formatHex(Utils.toArray(builder.build().buffer()));
    }

    private static byte[] bytesOrNull(String hex) {
        return hex.equals("-") ? null : HEX.parseHex(hex);
    }

    private static String marker(String[] words) {
        EndTransactionMarker marker = new EndTransactionMarker(ControlRecordType.valueOf(words[1]), Integer.parseInt(words[7]));
        return HEX.formatHex(Utils.toArray(MemoryRecords.withEndTransactionMarker(Long.parseLong(words[2]), Long.parseLong(words[3]),
            Integer.parseInt(words[4]), Long.parseLong(words[5]), Short.parseShort(words[6]), marker).buffer()));
    }
}
