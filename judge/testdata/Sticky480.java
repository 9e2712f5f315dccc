package org.apache.kafka.clients.producer.internals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.utils.LogContext;

/**
 * Kafka 3.2's DefaultPartitioner alone, and over its RecordAccumulator as KafkaProducer.doSend puts them
 * together, with a sender that may have so many requests in flight.
 */
public class Sticky480 extends Script {
    private Cluster cluster;
    private DefaultPartitioner partitioner;
    private RecordAccumulator accumulator;
    private int inFlight, maxInFlight, maxRequest;

    public static void main(String[] args) throws Exception {
        new Sticky480().run();
    }

    @Override
    String step(String[] w) throws Exception {
        switch (w[0]) {
            case "partitioner":
                partitioner = new DefaultPartitioner();
                return "ok";
            case "leaders": // COUNT LEADERS
                cluster = cluster(Integer.parseInt(w[1]), w[2]);
                return "ok";
            case "partition": // DRAWS
                return drawing(w[1], () -> "" + choose(null));
            case "newbatch": // PARTITION DRAWS
                return drawing(w[2], () -> {
                    partitioner.onNewBatch(TOPIC, cluster, Integer.parseInt(w[1]));
                    return "ok";
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

    private int choose(byte[] key) {
        return partitioner.partition(TOPIC, null, key, null, null, cluster);
    }

    private void producer(int[] settings) {
        int batchSize = settings[0], count = settings[4];
        maxRequest = settings[2];
        maxInFlight = settings[3];
        inFlight = 0;
        partitioner = new DefaultPartitioner();
        Metrics metrics = new Metrics();
        cluster = cluster(count, String.join(",", IntStream.range(0, count).mapToObj(Integer::toString).toList()));
        accumulator = new RecordAccumulator(new LogContext(), batchSize, CompressionType.NONE, settings[1], 100, 120_000,
            metrics, "judge", clock, new ApiVersions(), null, new BufferPool(1L << 30, batchSize, metrics, clock, "judge"));
    }

    private String produce(String keyHex, int valueSize) throws Exception {
        byte[] key = keyHex.equals("-") ? null : HexFormat.of().parseHex(keyHex);
        int chosen = choose(key);
        if (append(chosen, key, valueSize, true).abortForNewBatch) {
            partitioner.onNewBatch(TOPIC, cluster, chosen);
            chosen = choose(key);
            append(chosen, key, valueSize, false);
        }
        return chosen + send();
    }

    private RecordAccumulator.RecordAppendResult append(int partition, byte[] key, int valueSize, boolean abortOnNewBatch) throws Exception {
        return accumulator.append(new TopicPartition(TOPIC, partition), now, key, new byte[valueSize], null, (metadata, e) -> { }, 1000, abortOnNewBatch, now);
    }

    /** What Sender.sendProducerData does until nothing is ready or no request may follow, the batches sorted. */
    private String send() {
        StringBuilder sent = new StringBuilder();
        for (;;) {
            Set<Node> ready = accumulator.ready(cluster, now).readyNodes;
            if (ready.isEmpty() || inFlight == maxInFlight)
                return sent.toString();
            inFlight++;
            sent.append(" request");
            List<ProducerBatch> batches = new ArrayList<>(accumulator.drain(cluster, ready, maxRequest, now).get(BROKER.id()));
            batches.sort(Comparator.comparing(batch -> batch.topicPartition.partition()));
            for (ProducerBatch batch : batches)
                sent.append(' ').append(batch.topicPartition.partition()).append(':').append(batch.recordCount);
        }
    }
}
