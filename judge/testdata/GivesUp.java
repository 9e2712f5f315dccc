import java.util.Properties;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes "first" and "a" in a transaction, to the broker at the address of the first argument, which refuses "a"; aborts it
 * and writes "b" in another. With "committing" as the second argument it commits without waiting for "a".
 */
public class GivesUp {
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
            try {
                if (args[1].equals("committing"))
                    producer.commitTransaction();
                else
                    a.get();
                throw new AssertionError("nothing has failed");
            } catch (KafkaException | ExecutionException expected) {
                producer.abortTransaction();
            }
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", "b")).get();
            producer.commitTransaction();
        }
    }
}
