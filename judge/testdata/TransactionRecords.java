import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import kafka.coordinator.transaction.TransactionLog;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.coordinator.transaction.TransactionMetadata;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.coordinator.transaction.TxnTransitMetadata;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue;
import org.apache.kafka.server.common.TransactionVersion;

/**
 * Kafka's records of __transaction_state. Ids and topics are hex in the questions.
 *
 * read KEY VALUE, "-" for no value: what TransactionLog reads.
 * write VERSION ID PRODUCER EPOCH TIMEOUT STATE UPDATED START CLIENT PREVIOUS NEXT TOPIC:PARTITION…: what TransactionLog writes.
 */
public class TransactionRecords {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        for (String line; (line = in.readLine()) != null;) {
            String answer;
            try {
                answer = answer(line.split(" "));
            } catch (RuntimeException e) {
                answer = "error " + e.getClass().getSimpleName();
            }
            out.append(answer.replace("\n", " ")).append('\n');
        }
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }

    private static String answer(String[] words) {
        switch (words[0]) {
            case "write":
                return write(words);
            default:
                return read(bytes(words[1]), words[2].equals("-") ? null : bytes(words[2]));
        }
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    private static String text(String hex) {
        return new String(bytes(hex), java.nio.charset.StandardCharsets.UTF_8);
    }

    private static String write(String[] words) {
        HashSet<TopicPartition> partitions = new HashSet<>();
        for (int i = 12; i < words.length; i++) {
            String[] parts = words[i].split(":");
            partitions.add(new TopicPartition(text(parts[0]), Integer.parseInt(parts[1])));
        }
        TxnTransitMetadata metadata = new TxnTransitMetadata(Long.parseLong(words[3]), Long.parseLong(words[10]), Long.parseLong(words[11]),
            Short.parseShort(words[4]), (short) -1, Integer.parseInt(words[5]), TransactionState.fromId(Byte.parseByte(words[6])), partitions,
            Long.parseLong(words[8]), Long.parseLong(words[7]), TransactionVersion.fromFeatureLevel(Short.parseShort(words[9])));
        byte[] value = TransactionLog.valueToBytes(metadata, TransactionVersion.fromFeatureLevel(Short.parseShort(words[1])));
        String id = words[2].equals("-") ? "" : text(words[2]);
        return HexFormat.of().formatHex(TransactionLog.keyToBytes(id)) + " " + HexFormat.of().formatHex(value);
    }

    private static String read(byte[] key, byte[] value) {
        scala.util.Either<Object, String> read = TransactionLog.readTxnRecordKey(ByteBuffer.wrap(key));
        if (read.isLeft())
            return "error key of version " + read.swap().getOrElse(() -> null);
        String id = read.getOrElse(() -> null);
        String text = "[" + HexFormat.of().formatHex(id.getBytes(java.nio.charset.StandardCharsets.UTF_8)) + "] ";
        scala.Option<TransactionMetadata> metadata = TransactionLog.readTxnRecordValue(id, value == null ? null : ByteBuffer.wrap(value));
        if (metadata.isEmpty())
            return text + "gone";
        TransactionMetadata m = metadata.get();
        ByteBuffer buffer = ByteBuffer.wrap(value);
        short version = buffer.getShort();
        TransactionLogValue v = new TransactionLogValue(new ByteBufferAccessor(buffer), version);
        text += "v" + version + " " + m.state().stateName() + " producer " + m.producerId() + "/" + m.producerEpoch() + " previous " + m.prevProducerId() + " next " +
            v.nextProducerId() + "/" + v.nextProducerEpoch() + " timeout " + m.txnTimeoutMs() + " start " + m.txnStartTimestamp() + " updated " +
            m.txnLastUpdateTimestamp() + " client " + m.clientTransactionVersion().featureLevel() + " partitions " + sorted(m.topicPartitions());
        return text;
    }

    private static List<String> sorted(Set<TopicPartition> partitions) {
        List<String> list = new ArrayList<>();
        for (TopicPartition p : partitions)
            list.add(HexFormat.of().formatHex(p.topic().getBytes(java.nio.charset.StandardCharsets.UTF_8)) + "-" + p.partition());
        list.sort(null);
        return list;
    }
}
