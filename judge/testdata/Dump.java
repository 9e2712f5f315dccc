import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HexFormat;
import java.util.stream.Collectors;

import kafka.tools.DumpLogSegments;

import org.apache.kafka.tools.api.Decoder;

/**
 * Kafka's DumpLogSegments; keys and values can be printed with the decoder Dump$Hex. Without arguments it reads
 * lines of arguments and answers each with one line: what the tool prints, with " / " for line ends, or what it throws.
 */
public class Dump {
    public static class Hex implements Decoder<String> {
        public String fromBytes(byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread.currentThread().setContextClassLoader(Dump.class.getClassLoader()); // where it looks for decoders
        PrintStream out = System.out;
        if (args.length > 0) {
            out.print(dump(args));
            out.flush();
            return;
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String answer;
            try {
                answer = dump(line.split(" "));
            } catch (Throwable e) {
                answer = e.toString();
            }
            out.println(answer.replace("\n", " / "));
        }
    }

    /** What the tool prints. It reports what does not agree to standard error, and so does the logging. */
    private static String dump(String[] words) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream both = new PrintStream(printed, true);
        PrintStream errors = System.err;
        System.setErr(both);
        try {
            scala.Console.withOut(both, () -> {
                DumpLogSegments.main(words);
                return null;
            });
        } finally {
            System.setErr(errors);
        }
        return printed.toString().lines().filter(line -> !line.startsWith("SLF4J: ")).collect(Collectors.joining("\n", "", "\n"));
    }
}
