package org.apache.kafka.clients.producer.internals;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.utils.Time;

/**
 * What the judges of the producer have in common: they read one step a line, "VERB WORD…", and answer each
 * with one line, "other draws" where Kafka needs more random numbers than the step gives it, or fewer.
 */
abstract class Script {
    static final String TOPIC = "orders";
    static final Node BROKER = new Node(1, "b1", 9092);

    /** What the accumulator takes for the time. */
    long now;

    final Time clock = new Time() {
        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long millis) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void waitObject(Object o, Supplier<Boolean> condition, long deadline) {
            throw new UnsupportedOperationException();
        }
    };

    /** Does one step and gives its answer. */
    abstract String step(String[] words) throws Exception;

    void run() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line; (line = in.readLine()) != null;) {
            try {
                out.append(step(line.split(" ")));
            } catch (OtherDraws e) {
                out.append(e.getMessage());
            }
            out.append('\n');
        }
        System.out.print(out);
    }

    /** The topic with so many partitions, of which those in "0,2,3" or "-" have a leader. */
    static Cluster cluster(int count, String leaders) {
        List<Integer> led = numbers(leaders);
        List<PartitionInfo> infos = new ArrayList<>();
        for (int p = 0; p < count; p++)
            infos.add(new PartitionInfo(TOPIC, p, led.contains(p) ? BROKER : null, new Node[] {BROKER}, new Node[] {BROKER}));
        return new Cluster("c", List.of(BROKER), infos, Set.of(), Set.of());
    }

    static List<Integer> numbers(String list) {
        List<Integer> numbers = new ArrayList<>();
        if (!list.equals("-"))
            for (String number : list.split(","))
                numbers.add(Integer.parseInt(number));
        return numbers;
    }

    /** Kafka drew more numbers than were given, or fewer. */
    static class OtherDraws extends Exception {
        OtherDraws() {
            super("other draws");
        }
    }

    interface Body<T> {
        T run() throws Exception;
    }

    /**
     * Runs the body with a ThreadLocalRandom that gives, modulo the second number of each pair in "3/8,0/3" or
     * "-", the first.
     */
    static <T> T drawing(String pairs, Body<T> body) throws Exception {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Field seed = Thread.class.getDeclaredField("threadLocalRandomSeed");
        seed.setAccessible(true);
        Thread thread = Thread.currentThread();
        for (long from = 1; ; from++) {
            seed.setLong(thread, from);
            if (!gives(random, pairs))
                continue;
            long end = seed.getLong(thread);
            seed.setLong(thread, from);
            T result = body.run();
            if (seed.getLong(thread) != end)
                throw new OtherDraws();
            return result;
        }
    }

    private static boolean gives(ThreadLocalRandom random, String pairs) {
        if (!pairs.equals("-"))
            for (String pair : pairs.split(",")) {
                String[] drawn = pair.split("/");
                if ((random.nextInt() & 0x7fffffff) % Integer.parseInt(drawn[1]) != Integer.parseInt(drawn[0]))
                    return false;
            }
        return true;
    }
}
