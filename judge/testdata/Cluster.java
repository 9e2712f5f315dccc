import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;

/** The topics of a cluster of six brokers. */
record Cluster(long version, Map<String, Cluster.Topic> topics) implements CoordinatorMetadataImage {
    record Topic(String name, Uuid id, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        /** A partition is on three brokers of six, of which two have no rack. */
        @Override public List<String> partitionRacks(int partition) {
            List<String> racks = new ArrayList<>();
            for (int i = 0; i < 3; i++)
                if ((partition + i) % 6 > 1)
                    racks.add("r" + (partition + i) % 6);
            return racks;
        }
    }

    private Optional<Topic> of(Uuid id) { return topics.values().stream().filter(t -> t.id.equals(id)).findAny(); }
    @Override public Set<Uuid> topicIds() { return new HashSet<>(topics.values().stream().map(Topic::id).toList()); }
    @Override public Set<String> topicNames() { return topics.keySet(); }
    @Override public Optional<TopicMetadata> topicMetadata(String name) { return Optional.ofNullable(topics.get(name)); }
    @Override public Optional<TopicMetadata> topicMetadata(Uuid id) { return of(id).map(t -> t); }
    @Override public CoordinatorMetadataDelta emptyDelta() { return CoordinatorMetadataDelta.EMPTY; }
    @Override public boolean isEmpty() { return topics.isEmpty(); }
}
