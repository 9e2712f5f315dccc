import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupDescribeResponseData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.generated.*;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

/** What ConsumerCoordinator says of groups and records. A topic is told by the lower half of its id. */
class ConsumerTexts {
    private final Map<String, Group> groups;
    private final Map<String, ConsumerCoordinator.Due> timers;

    ConsumerTexts(Map<String, Group> groups, Map<String, ConsumerCoordinator.Due> timers) {
        this.groups = groups;
        this.timers = timers;
    }

    private static String or(String text) { return ConsumerCoordinator.or(text); }

    static String assigned(Map<Uuid, ? extends Collection<Integer>> partitions) {
        List<String> words = new ArrayList<>();
        new TreeMap<>(partitions).forEach((id, list) -> {
            if (!list.isEmpty())
                words.add(id.getLeastSignificantBits() + "/" + String.join(",", new TreeSet<>(list).stream().map(String::valueOf).toList()));
        });
        return words.isEmpty() ? "[]" : String.join(";", words);
    }

    static String assigned(ConsumerGroupHeartbeatResponseData.Assignment assignment) {
        if (assignment == null)
            return "-";
        Map<Uuid, List<Integer>> map = new HashMap<>();
        assignment.topicPartitions().forEach(t -> map.put(t.topicId(), t.partitions()));
        return assigned(map);
    }

    private static String described(ConsumerGroupDescribeResponseData.Assignment assignment) {
        Map<Uuid, List<Integer>> map = new HashMap<>();
        assignment.topicPartitions().forEach(t -> map.put(t.topicId(), t.partitions()));
        return assigned(map);
    }

    static String described(ConsumerGroupDescribeResponseData.DescribedGroup g) {
        TreeSet<String> members = new TreeSet<>();
        for (ConsumerGroupDescribeResponseData.Member m : g.members())
            members.add(m.memberId() + "/" + or(m.instanceId()) + "/" + or(m.rackId()) + "/" + m.memberEpoch() + "/" + m.clientId() + "/" + new TreeSet<>(m.subscribedTopicNames()) + "/" +
                or(m.subscribedTopicRegex()) + "/" + described(m.assignment()) + "/" + described(m.targetAssignment()) + "/" + m.memberType());
        return Errors.forCode(g.errorCode()) + " " + or(g.groupState()) + " " + g.groupEpoch() + " " + g.assignmentEpoch() + " " + or(g.assignorName()) + " " + members;
    }

    private String due(String key) { return timers.containsKey(key) ? String.valueOf(timers.get(key).at()) : "-"; }

    String state() {
        List<String> all = new ArrayList<>();
        new TreeMap<>(groups).values().forEach(g -> all.add(g instanceof ClassicGroup classic ? classic(classic) : consumer((ConsumerGroup) g)));
        return String.join("; ", all);
    }

    private String classic(ClassicGroup g) {
        List<String> members = new ArrayList<>();
        for (ClassicGroupMember m : g.allMembers())
            members.add(m.memberId() + ":" + or(m.groupInstanceId().orElse(null)) + ":" + (m.isAwaitingJoin() ? "J" : "") + (m.isAwaitingSync() ? "S" : "") +
                (m.isNew() ? "N" : "") + ":" + due("heartbeat-" + g.groupId() + "-" + m.memberId()) + ":" + m.sessionTimeoutMs() + ":" + m.rebalanceTimeoutMs());
        TreeSet<String> owes = new TreeSet<>(), pending = new TreeSet<>();
        g.allPendingSyncMembers().stream().filter(g::hasMember).forEach(owes::add);
        for (String key : timers.keySet()) {
            String prefix = "heartbeat-" + g.groupId() + "-";
            if (key.startsWith(prefix) && g.isPendingMember(key.substring(prefix.length())))
                pending.add(key.substring(prefix.length()) + "@" + due(key));
        }
        return g.groupId() + " " + g.stateAsString() + " " + (g.currentStateTimestampOrDefault() - ConsumerCoordinator.START) + " " + g.generationId() + " " +
            or(g.protocolType().orElse(null)) + " " + or(g.protocolName().orElse(null)) + " " + or(g.leaderOrNull()) + " " +
            members + " " + pending + " " + g.numPendingJoinMembers() + " " + owes + " join=" + due("join-" + g.groupId()) + " sync=" + due("sync-" + g.groupId());
    }

    private String consumer(ConsumerGroup g) {
        List<String> members = new ArrayList<>();
        for (ConsumerGroupMember m : g.members().values()) {
            String key = g.groupId() + "-" + m.memberId();
            members.add(m.memberId() + ":" + or(m.instanceId()) + ":" + m.rebalanceTimeoutMs() + ":" + or(m.subscribedTopicRegex()) + ":" +
                m.classicProtocolSessionTimeout().map(String::valueOf).orElse("-") + ":" + m.memberEpoch() + ":" + m.previousMemberEpoch() + ":" + m.state() + ":" +
                assigned(m.assignedPartitions()) + ":" + assigned(m.partitionsPendingRevocation()) + ":" +
                assigned(g.targetAssignment().getOrDefault(m.memberId(), Assignment.EMPTY).partitions()) + ":" + due("session-timeout-" + key) + ":" +
                due("rebalance-timeout-" + key) + ":" + due("join-" + key) + ":" + due("sync-" + key));
        }
        return g.groupId() + " consumer " + g.stateAsString() + " " + g.groupEpoch() + " " + g.assignmentEpoch() + " " + members;
    }

    private static Map<Uuid, List<Integer>> owned(List<ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions> list) {
        Map<Uuid, List<Integer>> map = new HashMap<>();
        list.forEach(t -> map.put(t.topicId(), t.partitions()));
        return map;
    }

    static String record(CoordinatorRecord record) {
        Object value = record.value() == null ? null : record.value().message();
        if (record.key() instanceof OffsetCommitKey k) {
            OffsetCommitValue v = (OffsetCommitValue) value;
            return "offset " + k.group() + " " + k.topic() + " " + k.partition() + (v == null ? " gone" : " " + v.offset() + " " + v.leaderEpoch() + " " + v.metadata() +
                " " + (v.commitTimestamp() - ConsumerCoordinator.START));
        }
        if (record.key() instanceof GroupMetadataKey k) {
            if (value == null)
                return "group " + k.group() + " gone";
            GroupMetadataValue v = (GroupMetadataValue) value;
            TreeSet<String> members = new TreeSet<>();
            for (GroupMetadataValue.MemberMetadata m : v.members())
                members.add(or(m.memberId()) + "," + or(m.groupInstanceId()) + "," + m.clientId() + "," + m.rebalanceTimeout() + "," + m.sessionTimeout() + "," +
                    ConsumerCoordinator.hex(m.subscription()) + "," + ConsumerCoordinator.hex(m.assignment()));
            return "group " + k.group() + " " + or(v.protocolType()) + " " + v.generation() + " " + or(v.protocol()) + " " + or(v.leader()) + " " +
                (v.currentStateTimestamp() - ConsumerCoordinator.START) + " " + members;
        }
        if (value instanceof ConsumerGroupTargetAssignmentMemberValue v) {
            Map<Uuid, List<Integer>> map = new HashMap<>();
            v.topicPartitions().forEach(t -> map.put(t.topicId(), t.partitions()));
            return record.key() + " " + assigned(map);
        }
        if (value instanceof ConsumerGroupCurrentMemberAssignmentValue v)
            return record.key() + " " + v.memberEpoch() + " " + v.previousMemberEpoch() + " " + v.state() + " " + assigned(owned(v.assignedPartitions())) + " " +
                assigned(owned(v.partitionsPendingRevocation()));
        return record.key() + (value == null ? " gone" : " v" + record.value().version() + " " + value).replaceAll("/127\\.0\\.0\\.1'", "'").replaceAll("clientHost='", "clientHost='/");
    }
}
