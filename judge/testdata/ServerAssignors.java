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

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/**
 * Reads groups, {"assignor": "uniform", "new_group": true, "topics": {"orders": 6}, "members": [{"id": "m0",
 * "instance_id": "i0", "topics": ["orders"], "owned": {"orders": [1]}, "joins": true, "replaces": "m9"}]}, one a line,
 * and answers with two new target assignments: {"roomy": {"m0": {"orders": [0, 1]}}, "assignment": …}. What a member
 * owned is its current target.
 *
 * For both the coordinator's own kind of table holds the members, and the builder adds the one that joins. For roomy that
 * table has so many slots that hardly two members share one, and each target was written in the order of its partitions.
 * For assignment the table has grown while the members came in the order given, the one that joins takes the place of the
 * static member that it replaces, and a target that stands as this program made it for the line before is the one that its
 * record was read into.
 *
 * Topic ids rise with the topics' names, and so do their hashes.
 */
public class ServerAssignors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, ConsumerGroupPartitionAssignor> ASSIGNORS =
        Map.of("uniform", new UniformAssignor(), "server-range", new RangeAssignor());

    private final ConsumerGroupPartitionAssignor assignor;
    private final Image image;
    private final JsonNode members;

    private ServerAssignors(JsonNode group) {
        assignor = ASSIGNORS.get(group.get("assignor").asText());
        image = new Image(group.get("topics"));
        members = group.get("members");
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Assignment> before = new HashMap<>();
        for (String line; (line = in.readLine()) != null;) {
            JsonNode group = JSON.readTree(line);
            if (group.path("new_group").asBoolean())
                before = new HashMap<>();
            Map<String, Object> answer = new TreeMap<>();
            try {
                ServerAssignors question = new ServerAssignors(group);
                answer.put("roomy", question.roomy());
                answer.put("assignment", question.asCoordinator(before));
            } catch (RuntimeException e) {
                answer.put("error", e.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private Map<String, Map<String, TreeSet<Integer>>> roomy() {
        Map<String, ConsumerGroupMember> all = table(1 << 16);
        Map<String, Assignment> targets = new HashMap<>();
        for (JsonNode member : members) {
            targets.put(id(member), target(member));
            if (!member.path("joins").asBoolean())
                all.put(id(member), member(member, id(member)));
        }
        ConsumerTargetAssignmentBuilder builder = builder(all, targets);
        for (JsonNode member : members)
            if (member.path("joins").asBoolean())
                builder.addOrUpdateMember(id(member), member(member, id(member)));
        return byMember(builder.build().targetAssignment());
    }

    private static Map<String, ConsumerGroupMember> table(int members) {
        return new TimelineHashMap<>(new SnapshotRegistry(new LogContext()), members);
    }

    private Map<String, Map<String, TreeSet<Integer>>> asCoordinator(Map<String, Assignment> before) {
        Map<String, ConsumerGroupMember> all = table(0); // as ModernGroup makes it
        Map<String, Assignment> targets = new HashMap<>();
        Map<String, String> statics = new HashMap<>();
        JsonNode joining = null;
        for (JsonNode member : members) {
            String holder = member.has("replaces") ? member.get("replaces").asText() : id(member);
            Assignment target = target(member);
            if (target.equals(before.get(holder)))
                target = before.get(holder);
            targets.put(holder, target);
            if (member.has("replaces"))
                all.put(holder, member(member, holder));
            if (member.path("joins").asBoolean())
                joining = member;
            else
                all.put(id(member), member(member, id(member)));
            if (member.has("instance_id"))
                statics.put(member.get("instance_id").asText(), holder);
        }
        ConsumerTargetAssignmentBuilder builder = builder(all, targets).withStaticMembers(statics);
        if (joining != null) {
            builder.addOrUpdateMember(id(joining), member(joining, id(joining)));
            if (joining.has("replaces"))
                builder.removeMember(joining.get("replaces").asText());
        }
        var result = builder.build().targetAssignment();
        before.clear();
        members.forEach(member -> {
            var made = result.get(id(member));
            Assignment next = made == null ? Assignment.EMPTY : new Assignment(made.partitions());
            Assignment old = targets.get(id(member));
            before.put(id(member), next.equals(old) ? old : replayed(next));
        });
        return byMember(result);
    }

    private ConsumerTargetAssignmentBuilder builder(Map<String, ConsumerGroupMember> all, Map<String, Assignment> targets) {
        Map<String, SubscriptionCount> counts = new HashMap<>();
        for (JsonNode member : members)
            names(member).forEach(name -> counts.compute(name, SubscriptionCount::incNameCount));
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        targets.forEach((id, target) -> target.partitions().forEach((topic, partitions) ->
            partitions.forEach(p -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(p, id))));
        return new ConsumerTargetAssignmentBuilder("group", 1, assignor)
            .withMembers(all)
            .withSubscriptionType(ModernGroup.subscriptionType(counts, members.size()))
            .withTargetAssignment(targets)
            .withInvertedTargetAssignment(inverted)
            .withMetadataImage(image);
    }

    private static String id(JsonNode member) {
        return member.get("id").asText();
    }

    private static Set<String> names(JsonNode member) {
        Set<String> names = new HashSet<>();
        member.path("topics").forEach(name -> names.add(name.asText()));
        return names;
    }

    private static ConsumerGroupMember member(JsonNode member, String id) {
        return new ConsumerGroupMember.Builder(id)
            .setInstanceId(member.has("instance_id") ? member.get("instance_id").asText() : null)
            .setSubscribedTopicNames(new ArrayList<>(names(member)))
            .build();
    }

    private Assignment target(JsonNode member) {
        Map<Uuid, Set<Integer>> partitions = new TreeMap<>();
        member.path("owned").properties().forEach(topic -> {
            Set<Integer> numbers = new TreeSet<>();
            topic.getValue().forEach(p -> numbers.add(p.asInt()));
            partitions.put(image.ids.get(topic.getKey()), numbers);
        });
        return replayed(new Assignment(partitions));
    }

    /** A target as the coordinator has it once its record is written. */
    private static Assignment replayed(Assignment target) {
        var record = GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentRecord("group", "member", target.partitions());
        return Assignment.fromRecord((ConsumerGroupTargetAssignmentMemberValue) record.value().message());
    }

    private Map<String, Map<String, TreeSet<Integer>>> byMember(
        Map<String, org.apache.kafka.coordinator.group.api.assignor.MemberAssignment> assigned
    ) {
        Map<String, Map<String, TreeSet<Integer>>> all = new TreeMap<>();
        members.forEach(member -> all.put(id(member), new TreeMap<>()));
        assigned.forEach((id, assignment) -> assignment.partitions().forEach((topic, partitions) ->
            all.get(id).put(image.byId.get(topic).name(), new TreeSet<>(partitions))));
        return all;
    }

    private record Topic(String name, Uuid id, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    /** The topics of the cluster. One without partitions has an id, which a target may still name, and is not there. */
    private static class Image implements CoordinatorMetadataImage {
        final Map<String, Uuid> ids = new HashMap<>();
        final Map<String, Topic> byName = new HashMap<>();
        final Map<Uuid, Topic> byId = new HashMap<>();

        Image(JsonNode topics) {
            Map<String, Integer> sorted = new TreeMap<>();
            topics.properties().forEach(topic -> sorted.put(topic.getKey(), topic.getValue().asInt()));
            sorted.forEach((name, count) -> {
                Uuid id = new Uuid(0, ids.size() + 2);
                ids.put(name, id);
                if (count > 0) {
                    byName.put(name, new Topic(name, id, count));
                    byId.put(id, byName.get(name));
                }
            });
        }

        @Override
        public Set<Uuid> topicIds() {
            return byId.keySet();
        }

        @Override
        public Set<String> topicNames() {
            return byName.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.ofNullable(byId.get(id));
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 0;
        }

        @Override
        public boolean isEmpty() {
            return byId.isEmpty();
        }
    }
}
