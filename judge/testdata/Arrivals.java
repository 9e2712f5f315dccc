import java.lang.reflect.Field;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataKey;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.TopicIds;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/**
 * The groups of a coordinator. Members are kept in the order in which they joined instead of Kafka's hash tables, so that
 * a new leader is one that can be foretold, and a group keeps that order when it changes its protocol.
 */
class Arrivals extends TimelineHashMap<String, Group> {
    private final SnapshotRegistry snapshots;
    private final Map<String, Map<String, Integer>> order = new HashMap<>(); // of each group's members, as seen last
    private int count = 0;
    String comes = ""; // the member whose request makes a classic group out of one of the consumer protocol is its last one

    Arrivals(SnapshotRegistry snapshots) {
        super(snapshots, 0);
        this.snapshots = snapshots;
    }

    static Object field(Class<?> type, Object of, String name) throws ReflectiveOperationException {
        Field f = type.getDeclaredField(name);
        f.setAccessible(true);
        return f.get(of);
    }

    static void set(Class<?> type, Object of, String name, Object value) throws ReflectiveOperationException {
        Field f = type.getDeclaredField(name);
        f.setAccessible(true);
        f.set(of, value);
    }

    private int place(String group, String member) {
        return order.getOrDefault(group, Map.of()).getOrDefault(member, Integer.MAX_VALUE);
    }

    /** The place that a member, "group-member", had before the step. */
    int place(String member) {
        int dash = member.indexOf('-');
        return place(member.substring(0, dash), member.substring(dash + 1));
    }

    @Override @SuppressWarnings("unchecked") public Group put(String id, Group group) {
        try {
            if (group instanceof ConsumerGroup) {
                Map<String, ConsumerGroupMember> members = (Map<String, ConsumerGroupMember>) field(ModernGroup.class, group, "members");
                if (!(members instanceof Members)) {
                    Members ordered = new Members(id);
                    members.entrySet().stream().sorted(Comparator.comparingInt(e -> place(id, e.getKey()))).forEach(e -> ordered.put(e.getKey(), e.getValue()));
                    set(ModernGroup.class, group, "members", ordered);
                }
            } else if (group instanceof ClassicGroup) {
                Map<String, ClassicGroupMember> members = (Map<String, ClassicGroupMember>) field(ClassicGroup.class, group, "members");
                if (!(members instanceof Classic)) {
                    Classic ordered = new Classic();
                    members.entrySet().stream().sorted(Comparator.comparingInt(e -> e.getKey().equals(comes) ? Integer.MAX_VALUE : place(id, e.getKey()))).
                        forEach(e -> ordered.put(e.getKey(), e.getValue()));
                    set(ClassicGroup.class, group, "members", ordered);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return super.put(id, group);
    }

    /** After a step: takes note of the order of the members. */
    void settle() {
        for (Group g : values()) {
            Map<String, Integer> places = new HashMap<>();
            Collection<String> ids = List.of();
            if (g instanceof ClassicGroup classic) {
                try {
                    ((Classic) field(ClassicGroup.class, g, "members")).gone = null;
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
                ids = classic.allMembers().stream().map(ClassicGroupMember::memberId).toList();
            } else if (g instanceof ConsumerGroup consumer) {
                ids = consumer.members().keySet();
            }
            for (String id : ids)
                places.put(id, places.size());
            order.put(g.groupId(), places);
        }
    }

    /** Puts the records of the members of a group that changes its protocol into the order of its members. */
    List<CoordinatorRecord> arrange(List<CoordinatorRecord> records) {
        List<Integer> places = new ArrayList<>();
        List<Map.Entry<Integer, CoordinatorRecord>> members = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < records.size(); i++)
            if (records.get(i).key() instanceof ConsumerGroupMemberMetadataKey key && records.get(i).value() != null) {
                places.add(i);
                members.add(Map.entry(seen.add(key.memberId()) ? place(key.groupId(), key.memberId()) : Integer.MAX_VALUE, records.get(i)));
            }
        members.sort(Map.Entry.comparingByKey());
        List<CoordinatorRecord> arranged = new ArrayList<>(records);
        for (int i = 0; i < places.size(); i++)
            arranged.set(places.get(i), members.get(i).getValue());
        return arranged;
    }

    /** The members of a group of the consumer protocol. */
    private class Members extends TimelineHashMap<String, ConsumerGroupMember> {
        private final TimelineHashMap<String, Integer> came;

        Members(String group) {
            super(snapshots, 0);
            came = new TimelineHashMap<>(snapshots, 0);
        }

        @Override public ConsumerGroupMember put(String id, ConsumerGroupMember member) {
            if (!containsKey(id))
                came.put(id, count++);
            return super.put(id, member);
        }

        private Map<String, ConsumerGroupMember> ordered() {
            Map<String, ConsumerGroupMember> map = new LinkedHashMap<>();
            super.entrySet().stream().sorted(Comparator.comparingInt(e -> came.get(e.getKey()))).forEach(e -> map.put(e.getKey(), e.getValue()));
            return map;
        }

        @Override public Set<Entry<String, ConsumerGroupMember>> entrySet() { return ordered().entrySet(); }
        @Override public Set<String> keySet() { return ordered().keySet(); }
        @Override public Collection<ConsumerGroupMember> values() { return ordered().values(); }
    }

    /** The members of a classic group; what replaces a static member takes its place. */
    private static class Classic extends AbstractMap<String, ClassicGroupMember> {
        private final List<Entry<String, ClassicGroupMember>> entries = new ArrayList<>();
        private int hole;
        private ClassicGroupMember gone;

        @Override public ClassicGroupMember put(String id, ClassicGroupMember member) {
            for (Entry<String, ClassicGroupMember> e : entries)
                if (e.getKey().equals(id))
                    return e.setValue(member);
            boolean replaces = gone != null && gone.isStaticMember() && gone.groupInstanceId().equals(member.groupInstanceId());
            entries.add(replaces ? Math.min(hole, entries.size()) : entries.size(), new SimpleEntry<>(id, member));
            gone = null;
            return null;
        }

        @Override public ClassicGroupMember remove(Object id) {
            for (int i = 0; i < entries.size(); i++)
                if (entries.get(i).getKey().equals(id)) {
                    hole = i;
                    gone = entries.remove(i).getValue();
                    return gone;
                }
            return null;
        }

        @Override public Set<Entry<String, ClassicGroupMember>> entrySet() {
            return new java.util.AbstractSet<>() {
                @Override public Iterator<Entry<String, ClassicGroupMember>> iterator() { return entries.iterator(); }
                @Override public int size() { return entries.size(); }
            };
        }
    }

    /**
     * An assignor as from a table of members with so many slots that no two share one: the members by the hash of their ids
     * there, one that just joins last, and then in the order of a table of the size that the assignor's has. It is told that
     * subscriptions are equal if and only if they are.
     */
    record Assignor(ConsumerGroupPartitionAssignor rule, String[] joining) implements ConsumerGroupPartitionAssignor {
        @Override public String name() { return rule.name(); }

        @Override public GroupAssignment assign(GroupSpec spec, SubscribedTopicDescriber topics) {
            List<String> ids = new ArrayList<>(spec.memberIds());
            ids.sort((a, b) -> a.equals(joining[0]) != b.equals(joining[0]) ? (a.equals(joining[0]) ? 1 : -1) :
                Long.compareUnsigned(a.hashCode() * -7046029254386353131L, b.hashCode() * -7046029254386353131L));
            Map<String, Boolean> table = new HashMap<>();
            ids.forEach(id -> table.put(id, true));
            Set<String> ordered = new LinkedHashSet<>(table.keySet());
            Set<Set<?>> subscriptions = new HashSet<>();
            for (String id : ids) {
                try {
                    subscriptions.add(new HashSet<>((Set<?>) field(TopicIds.class, spec.memberSubscription(id).subscribedTopicIds(), "topicNames")));
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            }
            SubscriptionType type = subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
            return rule.assign((GroupSpec) java.lang.reflect.Proxy.newProxyInstance(Arrivals.class.getClassLoader(), new Class<?>[] {GroupSpec.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "memberIds" -> ordered;
                    case "subscriptionType" -> type;
                    default -> method.invoke(spec, args);
                }), topics);
        }
    }
}
