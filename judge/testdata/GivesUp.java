import java.util.Properties;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes "first" and "a" in a transaction, to the broker at the address of the first argument, which refuses "a"; aborts it
 * and writes "b" in another. The second argument says when "a" is refused: while it waits in "commit" or in "abort", or
 * "before" it ends the transaction.
 */
public class GivesUp {
    private static final long UNTIL_THE_SENDER_HAS_DONE_IT = 500; // ms; its thread is none of ours

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("transactional.id", "one");
        config.put("linger.ms", "0");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", "first")).get();
            var a = producer.send(new ProducerRecord<>("orders", "a"));
            Thread.sleep(UNTIL_THE_SENDER_HAS_DONE_IT); // it is sent
            try {
                switch (args[1]) {
                    case "commit" -> producer.commitTransaction();
                    case "abort" -> producer.abortTransaction();
                    default -> { }
                }
                a.get();
                throw new AssertionError("nothing has failed");
            } catch (KafkaException | ExecutionException expected) {
                Thread.sleep(UNTIL_THE_SENDER_HAS_DONE_IT); // it tells of the error before it notes it
                if (!args[1].equals("abort"))
                    producer.abortTransaction();
            }
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", "b")).get();
            producer.commitTransaction();
        }
    }
}
