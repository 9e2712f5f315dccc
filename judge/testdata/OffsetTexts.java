import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.OffsetAndMetadata;

/** What the judges of group coordinators say of the offsets in a shard's memory. */
class OffsetTexts {
    /** All offsets, sorted: committed ones, and those of transactions that have not ended. */
    static String of(GroupCoordinatorShard shard) throws Exception {
        Object manager = field(shard, "offsetMetadataManager");
        List<String> all = new ArrayList<>();
        add(all, field(manager, "offsets"), "");
        for (Map.Entry<?, ?> e : ((Map<?, ?>) field(manager, "pendingTransactionalOffsets")).entrySet())
            add(all, e.getValue(), " pending in " + e.getKey());
        all.sort(null);
        return String.join("; ", all);
    }

    @SuppressWarnings("unchecked")
    private static void add(List<String> all, Object offsets, String what) throws Exception {
        ((Map<String, Map<String, Map<Integer, OffsetAndMetadata>>>) field(offsets, "offsetsByGroup")).forEach((group, topics) ->
            topics.forEach((topic, partitions) ->
                partitions.forEach((partition, o) -> all.add(group + " " + topic + "-" + partition + what + ": " + o.committedOffset))));
    }

    private static Object field(Object of, String name) throws Exception {
        Field f = of.getClass().getDeclaredField(name);
        f.setAccessible(true);
        return f.get(of);
    }
}
