import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.GroupMetadataKey;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/**
 * Reads records of __consumer_offsets, "KEY VALUE" in hex, one a line, "-" for no value. Answers what it read, and key
 * and value as it writes them again. A line "partition GROUP" is answered with the group's partition of 50, and a line
 * "hash NAME:ID:RACKS;RACKS …" with the hash of these topics, each with the racks of the replicas of its partitions,
 * "RACK,RACK" in hex.
 */
public class GroupRecords {
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        for (String line; (line = in.readLine()) != null;)
            out.append(answer(line.split(" ", 2))).append('\n');
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }

    private static String answer(String[] words) {
        if (words[0].equals("partition"))
            return String.valueOf(Utils.abs(words[1].hashCode()) % 50);
        if (words[0].equals("hash"))
            return String.valueOf(hash(words[1].split(" ")));
        ByteBuffer key = ByteBuffer.wrap(HexFormat.of().parseHex(words[0]));
        ByteBuffer value = words[1].equals("-") ? null : ByteBuffer.wrap(HexFormat.of().parseHex(words[1]));
        CoordinatorRecord record = SERDE.deserialize(key, value);
        return text(record) + " | " + HexFormat.of().formatHex(SERDE.serializeKey(record)) + " " + hexOrNone(SERDE.serializeValue(record));
    }

    private record Topic(String name, Uuid id, List<List<String>> racks) implements CoordinatorMetadataImage.TopicMetadata {
        @Override public int partitionCount() { return racks.size(); }
        @Override public List<String> partitionRacks(int partition) { return racks.get(partition); }
    }

    private static long hash(String[] topics) {
        Map<String, Long> hashes = new HashMap<>();
        for (String text : topics) {
            String[] parts = text.split(":", -1);
            ByteBuffer id = ByteBuffer.wrap(HexFormat.of().parseHex(parts[1]));
            Topic topic = new Topic(parts[0], new Uuid(id.getLong(), id.getLong()), new ArrayList<>());
            for (String racks : parts[2].split(";", -1)) {
                List<String> list = new ArrayList<>();
                for (String rack : racks.split(","))
                    if (!rack.isEmpty())
                        list.add(new String(HexFormat.of().parseHex(rack), java.nio.charset.StandardCharsets.UTF_8));
                topic.racks.add(list);
            }
            CoordinatorMetadataImage image = (CoordinatorMetadataImage) Proxy.newProxyInstance(GroupRecords.class.getClassLoader(),
                new Class<?>[] {CoordinatorMetadataImage.class}, (proxy, method, args) -> Optional.of(topic));
            hashes.put(topic.name, org.apache.kafka.coordinator.group.Utils.computeTopicHash(topic.name, image));
        }
        return org.apache.kafka.coordinator.group.Utils.computeGroupHash(hashes);
    }

    private static String text(CoordinatorRecord record) {
        Object value = record.value() == null ? null : record.value().message();
        if (record.key() instanceof OffsetCommitKey k) {
            String text = "offset " + k.group() + " " + k.topic() + " " + k.partition();
            if (value == null)
                return text + " gone";
            OffsetCommitValue v = (OffsetCommitValue) value;
            ByteBuffer id = ByteBuffer.allocate(16).putLong(v.topicId().getMostSignificantBits()).putLong(v.topicId().getLeastSignificantBits());
            return text + " v" + record.value().version() + " " + v.offset() + " " + v.leaderEpoch() + " [" + v.metadata() + "] " +
                v.commitTimestamp() + " " + v.expireTimestamp() + " " + HexFormat.of().formatHex(id.array());
        }
        if (!(record.key() instanceof GroupMetadataKey k))
            return record.key() + (value == null ? " gone" : " v" + record.value().version() + " " + value);
        if (value == null)
            return "group " + k.group() + " gone";
        GroupMetadataValue v = (GroupMetadataValue) value;
        List<String> members = new ArrayList<>();
        for (GroupMetadataValue.MemberMetadata m : v.members())
            members.add(m.memberId() + "," + m.groupInstanceId() + "," + m.clientId() + "," + m.clientHost() + "," + m.rebalanceTimeout() + "," +
                m.sessionTimeout() + "," + HexFormat.of().formatHex(m.subscription()) + "," + HexFormat.of().formatHex(m.assignment()));
        return "group " + k.group() + " v" + record.value().version() + " " + v.protocolType() + " " + v.generation() + " " + v.protocol() + " " +
            v.leader() + " " + v.currentStateTimestamp() + " [" + String.join(" ", members) + "]";
    }

    private static String hexOrNone(byte[] bytes) {
        return bytes == null ? "-" : HexFormat.of().formatHex(bytes);
    }
}
