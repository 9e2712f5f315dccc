package org.apache.kafka.clients.producer.internals;

import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.apache.kafka.clients.MetadataSnapshot;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;

/**
 * Kafka 4.2's BuiltInPartitioner alone, and under its RecordAccumulator with a sender that may have so many
 * requests in flight.
 */
public class Sticky extends Script {
    private Cluster cluster;

    private BuiltInPartitioner partitioner;

    private RecordAccumulator accumulator;
    private MetadataSnapshot snapshot;
    private int inFlight, maxInFlight, maxRequest, count;

    public static void main(String[] args) throws Exception {
        new Sticky().run();
    }

    @Override
    String step(String[] w) throws Exception {
        switch (w[0]) {
            case "partitioner": // BATCH-SIZE
                partitioner = new BuiltInPartitioner(new LogContext(), TOPIC, Integer.parseInt(w[1]));
                return "ok";
            case "leaders": // COUNT LEADERS
                cluster = cluster(Integer.parseInt(w[1]), w[2]);
                return "ok";
            case "load": // LENGTHS
                load(numbers(w[1]));
                return "ok";
            case "partition": // DRAWS
                return drawing(w[1], this::current);
            case "appended": // BYTES INCOMPLETE DRAWS
                return drawing(w[3], () -> {
                    partitioner.updatePartitionInfo(partitioner.peekCurrentPartitionInfo(cluster), Integer.parseInt(w[1]), cluster, w[2].equals("false"));
                    return current();
                });
            case "producer": // BATCH-SIZE LINGER MAX-REQUEST MAX-IN-FLIGHT COUNT
                producer(IntStream.range(1, w.length).map(i -> Integer.parseInt(w[i])).toArray());
                return "ok";
            case "produce": // NOW KEY VALUE-SIZE DRAWS
                now = Long.parseLong(w[1]);
                return drawing(w[4], () -> produce(w[2], Integer.parseInt(w[3])));
            case "tick": // NOW
                now = Long.parseLong(w[1]);
                return send();
            case "answered": // NOW
                now = Long.parseLong(w[1]);
                inFlight--;
                return send();
            default:
                throw new IllegalArgumentException(w[0]);
        }
    }

    private String current() {
        return "" + partitioner.peekCurrentPartitionInfo(cluster).partition();
    }

    /** Lengths of all queues, as RecordAccumulator.partitionReady hands them over; none if not all exist. */
    private void load(List<Integer> lengths) {
        if (lengths.isEmpty()) {
            partitioner.updatePartitionLoadStats(null, null, 0);
            return;
        }
        int[] queues = new int[lengths.size()], ids = new int[lengths.size()];
        int n = 0;
        for (var partition : cluster.availablePartitionsForTopic(TOPIC)) {
            queues[n] = lengths.get(partition.partition());
            ids[n++] = partition.partition();
        }
        partitioner.updatePartitionLoadStats(queues, ids, n);
    }

    private void producer(int[] settings) {
        int batchSize = settings[0];
        maxRequest = settings[2];
        maxInFlight = settings[3];
        count = settings[4];
        inFlight = 0;
        Metrics metrics = new Metrics();
        cluster = cluster(count, String.join(",", IntStream.range(0, count).mapToObj(Integer::toString).toList()));
        snapshot = new MetadataSnapshot("c", new HashMap<>(Map.of(1, BROKER)), List.of(), Set.of(), Set.of(), Set.of(), BROKER, Map.of(), cluster);
        accumulator = new RecordAccumulator(new LogContext(), batchSize, Compression.NONE, settings[1], 100, 1000, 120_000,
            new RecordAccumulator.PartitionerConfig(true, 0), metrics, "judge", clock, null,
            new BufferPool(1L << 30, batchSize, metrics, clock, "judge"));
    }

    private String produce(String keyHex, int valueSize) throws Exception {
        byte[] key = keyHex.equals("-") ? null : HexFormat.of().parseHex(keyHex);
        int partition = key == null ? RecordMetadata.UNKNOWN_PARTITION : BuiltInPartitioner.partitionForKey(key, count);
        int[] chosen = new int[1];
        accumulator.append(TOPIC, partition, now, key, new byte[valueSize], null, new RecordAccumulator.AppendCallbacks() {
            @Override
            public void setPartition(int p) {
                chosen[0] = p;
            }

            @Override
            public void onCompletion(RecordMetadata metadata, Exception e) {
            }
        }, 1000, now, cluster);
        return chosen[0] + send();
    }

    /** What Sender.sendProducerData does until nothing is ready or no request may follow. */
    private String send() {
        StringBuilder sent = new StringBuilder();
        for (;;) {
            Set<Node> ready = accumulator.ready(snapshot, now).readyNodes;
            if (ready.isEmpty() || inFlight == maxInFlight)
                return sent.toString();
            inFlight++;
            sent.append(" request");
            for (ProducerBatch batch : accumulator.drain(snapshot, ready, maxRequest, now).get(BROKER.id()))
                sent.append(' ').append(batch.topicPartition.partition()).append(':').append(batch.recordCount);
        }
    }
}
