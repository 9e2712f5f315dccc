import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.RebalanceProtocol;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads groups, {"assignor": "range", "topics": {"orders": 6}, "members": [{"id": "m0", "instance_id": "i0",
 * "topics": ["orders"], "owned": {"orders": [1]}, "generation": 3, "subscription_generation": 3}]}, one a line,
 * and answers with each assignment: {"assignment": {"m0": {"orders": [0, 1]}}, "empty_first": false,
 * "protocols": ["EAGER"]}. If the assignor fails, "error" says how. What each member owned reaches the leader
 * as the member's own assignor would send it.
 */
public class Assignors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Supplier<AbstractPartitionAssignor>> ASSIGNORS = Map.of(
        "range", RangeAssignor::new, "roundrobin", RoundRobinAssignor::new,
        "sticky", StickyAssignor::new, "cooperative-sticky", CooperativeStickyAssignor::new);

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;)
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }

    private static Map<String, Object> answer(JsonNode group) {
        Supplier<AbstractPartitionAssignor> assignors = ASSIGNORS.get(group.get("assignor").asText());
        AbstractPartitionAssignor leader = assignors.get();
        Map<String, Subscription> subscriptions = new HashMap<>(); // as ConsumerCoordinator collects them
        Set<String> subscribed = new HashSet<>();
        for (JsonNode member : group.get("members")) {
            Subscription subscription = subscription(assignors.get(), member);
            subscribed.addAll(subscription.topics());
            subscriptions.put(member.get("id").asText(), subscription);
        }
        Map<String, Integer> partitionsPerTopic = new HashMap<>();
        group.get("topics").properties().forEach(topic -> {
            // as AbstractPartitionAssignor does with the cluster's metadata
            if (subscribed.contains(topic.getKey()) && topic.getValue().asInt() > 0)
                partitionsPerTopic.put(topic.getKey(), topic.getValue().asInt());
        });
        Map<String, Object> answer = new TreeMap<>();
        answer.put("protocols", leader.supportedProtocols().stream().map(RebalanceProtocol::name).toList());
        answer.put("empty_first", !subscribed.isEmpty() && subscriptions.values().iterator().next().topics().isEmpty());
        try {
            answer.put("assignment", byMember(leader.assign(partitionsPerTopic, subscriptions)));
        } catch (RuntimeException e) {
            answer.put("error", e.toString());
        }
        return answer;
    }

    @SuppressWarnings("removal") // there is no other way to tell a member its generation
    private static Subscription subscription(AbstractPartitionAssignor assignor, JsonNode member) {
        List<String> topics = new ArrayList<>();
        for (JsonNode topic : member.path("topics"))
            topics.add(topic.asText());
        List<TopicPartition> owned = new ArrayList<>();
        member.path("owned").properties().forEach(topic -> topic.getValue().forEach(
            partition -> owned.add(new TopicPartition(topic.getKey(), partition.asInt()))));
        if (member.path("joined").asBoolean())
            assignor.onAssignment(new Assignment(owned),
                new ConsumerGroupMetadata("group", member.get("generation").asInt(), member.get("id").asText(), Optional.empty()));
        // An eager consumer has given up all that it owned when it joins.
        boolean keeps = assignor.supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
        Subscription subscription = new Subscription(topics, assignor.subscriptionUserData(new HashSet<>(topics)),
            keeps ? owned : List.of(), member.path("subscription_generation").asInt(-1), Optional.empty());
        if (member.has("instance_id"))
            subscription.setGroupInstanceId(Optional.of(member.get("instance_id").asText()));
        return subscription;
    }

    private static Map<String, Map<String, TreeSet<Integer>>> byMember(Map<String, List<TopicPartition>> assigned) {
        Map<String, Map<String, TreeSet<Integer>>> assignment = new TreeMap<>();
        assigned.forEach((member, partitions) -> {
            Map<String, TreeSet<Integer>> byTopic = new TreeMap<>();
            for (TopicPartition p : partitions)
                byTopic.computeIfAbsent(p.topic(), topic -> new TreeSet<>()).add(p.partition());
            assignment.put(member, byTopic);
        });
        return assignment;
    }
}
