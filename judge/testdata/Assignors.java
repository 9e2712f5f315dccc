import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads groups, {"assignor": "range", "topics": {"orders": 6}, "members": [{"id": "m0", "instance_id": "i0",
 * "topics": ["orders"]}]}, one a line, and answers with each assignment: {"m0": {"orders": [0, 1]}}.
 */
public class Assignors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, AbstractPartitionAssignor> ASSIGNORS = Map.of(
        "range", new RangeAssignor(), "roundrobin", new RoundRobinAssignor());

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;)
            System.out.println(JSON.writeValueAsString(assign(JSON.readTree(line))));
    }

    private static Map<String, Map<String, TreeSet<Integer>>> assign(JsonNode group) {
        Map<String, Integer> partitionsPerTopic = new HashMap<>();
        group.get("topics").properties().forEach(topic -> {
            if (topic.getValue().asInt() > 0) // as AbstractPartitionAssignor does with the cluster's metadata
                partitionsPerTopic.put(topic.getKey(), topic.getValue().asInt());
        });
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            List<String> topics = new ArrayList<>();
            for (JsonNode topic : member.path("topics"))
                topics.add(topic.asText());
            Subscription subscription = new Subscription(topics);
            if (member.has("instance_id"))
                subscription.setGroupInstanceId(Optional.of(member.get("instance_id").asText()));
            subscriptions.put(member.get("id").asText(), subscription);
        }
        Map<String, Map<String, TreeSet<Integer>>> assignment = new TreeMap<>();
        ASSIGNORS.get(group.get("assignor").asText()).assign(partitionsPerTopic, subscriptions).forEach((member, partitions) -> {
            Map<String, TreeSet<Integer>> byTopic = new TreeMap<>();
            for (TopicPartition p : partitions)
                byTopic.computeIfAbsent(p.topic(), topic -> new TreeSet<>()).add(p.partition());
            assignment.put(member, byTopic);
        });
        return assignment;
    }
}
