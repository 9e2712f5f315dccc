import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntPredicate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Answers questions about cluster metadata, one a line:
 *
 *   {"record": {…}, "key": 5, "version": 2}   the record's bytes in hex
 *   {"bytes": "0105…"}                        the same bytes, read and written again
 *   {"change": …}                             the bytes of the record that PartitionChangeBuilder builds, "" for none
 *   {"place": …}                              the replicas of each partition, or why there are none
 */
public class Metadata {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line; (line = in.readLine()) != null;)
            out.append(answer(JSON.readTree(line))).append('\n');
        System.out.print(out);
    }

    private static String answer(JsonNode question) throws Exception {
        if (question.has("bytes")) {
            byte[] bytes = HexFormat.of().parseHex(question.get("bytes").asText());
            return hex(MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(ByteBuffer.wrap(bytes)), bytes.length));
        }
        if (question.has("record")) {
            short version = (short) question.get("version").asInt();
            return hex(new ApiMessageAndVersion(
                MetadataJsonConverters.readJson(question.get("record"), (short) question.get("key").asInt(), version), version));
        }
        if (question.has("change"))
            return change(question.get("change"));
        return place(question.get("place"));
    }

    private static String hex(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
        MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(buffer));
        return HexFormat.of().formatHex(buffer.array());
    }

    private static String change(JsonNode q) {
        int[] replicas = ints(q.get("replicas"));
        Uuid[] directories = new Uuid[replicas.length];
        Arrays.fill(directories, new Uuid(7, 7));
        PartitionRegistration partition = new PartitionRegistration.Builder().
            setReplicas(replicas).setDirectories(directories).setIsr(ints(q.get("isr"))).setElr(ints(q.get("elr"))).
            setLastKnownElr(ints(q.get("lastKnownElr"))).setLeader(q.get("leader").asInt()).
            setLeaderRecoveryState(LeaderRecoveryState.of((byte) q.get("recovering").asInt())).
            setLeaderEpoch(q.get("leaderEpoch").asInt()).setPartitionEpoch(q.get("partitionEpoch").asInt()).build();
        List<Integer> alive = list(q.get("alive"));
        IntPredicate acceptable = alive::contains;
        PartitionChangeBuilder builder = new PartitionChangeBuilder(partition, new Uuid(1, 2), 3, acceptable,
            MetadataVersion.IBP_4_2_IV1, q.get("minIsr").asInt());
        builder.setEligibleLeaderReplicasEnabled(q.get("elrEnabled").asBoolean());
        builder.setElection(PartitionChangeBuilder.Election.valueOf(q.get("election").asText()));
        builder.setTargetIsr(list(q.get("targetIsr")));
        builder.setDefaultDirProvider(id -> new Uuid(7, 7));
        if (q.get("unclean").asInt() >= 0)
            builder.setUncleanShutdownReplicas(List.of(q.get("unclean").asInt()));
        if (q.get("recovered").asBoolean())
            builder.setTargetLeaderRecoveryState(LeaderRecoveryState.RECOVERED);
        return builder.build().map(Metadata::hex).orElse("");
    }

    /** Every draw below n is (the given number * 31 + n * 17) mod n, whatever the order of the draws. */
    private static String place(JsonNode q) {
        long drawn = q.get("drawn").asLong();
        Random random = new Random() {
            @Override
            public int nextInt(int n) {
                return (int) ((drawn * 31 + n * 17L) % n);
            }
        };
        List<UsableBroker> brokers = new ArrayList<>();
        for (JsonNode b : q.get("brokers")) {
            String rack = b.get("rack").asText();
            brokers.add(new UsableBroker(b.get("id").asInt(), rack.isEmpty() ? Optional.empty() : Optional.of(rack), b.get("fenced").asBoolean()));
        }
        ClusterDescriber cluster = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int brokerId) {
                return new Uuid(7, 7);
            }
        };
        try {
            List<List<Integer>> replicas = new ArrayList<>();
            for (PartitionAssignment a : new StripedReplicaPlacer(random).place(new PlacementSpec(0, q.get("partitions").asInt(), (short) q.get("factor").asInt()), cluster).assignments())
                replicas.add(a.replicas());
            return replicas.toString().replace(" ", "");
        } catch (InvalidReplicationFactorException e) {
            return e.getMessage();
        }
    }

    private static int[] ints(JsonNode array) {
        return list(array).stream().mapToInt(Integer::intValue).toArray();
    }

    private static List<Integer> list(JsonNode array) {
        List<Integer> numbers = new ArrayList<>();
        array.forEach(n -> numbers.add(n.asInt()));
        return numbers;
    }
}
