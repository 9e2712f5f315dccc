"""Reads "KEY-IN-HEX COUNT…" and answers with the key's partition for each count. The argument is the
name of a partitioner of librdkafka; the key "-" is null."""

import ctypes
import sys

try:
    library = ctypes.CDLL("librdkafka.so.1")
except OSError as error:
    sys.exit(f"this judge needs librdkafka, which cannot be loaded ({error}): on Debian: apt-get install librdkafka1")

library.rd_kafka_new.restype = ctypes.c_void_p
library.rd_kafka_new.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
library.rd_kafka_topic_new.restype = ctypes.c_void_p
library.rd_kafka_topic_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# A producer without brokers: a partitioner that draws at random wants to see the topic.
PRODUCER = 0
reason = ctypes.create_string_buffer(500)
client = library.rd_kafka_new(PRODUCER, None, reason, len(reason))
if not client:
    sys.exit(reason.value.decode())
topic = library.rd_kafka_topic_new(client, b"orders", None)

partition = getattr(library, "rd_kafka_msg_partitioner_" + sys.argv[1])
partition.restype = ctypes.c_int32
partition.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]

for line in sys.stdin:
    text, *counts = line.rstrip("\n").split(" ")
    key = None if text == "-" else bytes.fromhex(text)
    print(*(partition(topic, key, len(key or b""), int(count), None, None) for count in counts))
