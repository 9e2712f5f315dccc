import java.util.HexFormat;

import kafka.tools.DumpLogSegments;

import org.apache.kafka.tools.api.Decoder;

/** Kafka's DumpLogSegments; keys and values can be printed with the decoder Dump$Hex. */
public class Dump {
    public static class Hex implements Decoder<String> {
        public String fromBytes(byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
    }

    public static void main(String[] args) {
        Thread.currentThread().setContextClassLoader(Dump.class.getClassLoader()); // where it looks for decoders
        DumpLogSegments.main(args);
    }
}
