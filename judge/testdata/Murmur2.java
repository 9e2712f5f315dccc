import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;

import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.utils.Utils;

/** Reads "KEY-IN-HEX COUNT…" and answers with the key's murmur2 and its partition for each count. */
public class Murmur2 {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            byte[] key = HexFormat.of().parseHex(words[0]);
            out.append(Utils.murmur2(key));
            for (int i = 1; i < words.length; i++)
                out.append(' ').append(BuiltInPartitioner.partitionForKey(key, Integer.parseInt(words[i])));
            out.append('\n');
        }
        System.out.print(out);
    }
}
