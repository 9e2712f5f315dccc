package journal

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

var orders3 = kafka.TopicPartition{Topic: "orders", Partition: 3}

// samples holds one body of each kind with its text and its sentence.
var samples = []sample{
	{CommandGiven{"pause c1"}, "pause c1", "You gave the command: pause c1."},
	{CommandRejected{"pause c9", "there is no node c9"}, "pause c9: there is no node c9",
		`The command "pause c9" could not apply: there is no node c9. Nothing was changed.`},
	{NodePaused{}, "", "The process stands still: no timer fires and nothing is read; what arrives waits."},
	{NodeResumed{2}, "waiting=2", "The process goes on and takes 2 messages that had arrived meanwhile, in order."},
	{TimePassed{45000}, "45000 ms", "45,000 ms passed; all that fell due in them has happened."},
	{RequestRefused{"CreatePartitions", "INVALID_PARTITIONS", "Topic already has 6 partition(s)."}, "CreatePartitions INVALID_PARTITIONS: Topic already has 6 partition(s).",
		"The CreatePartitions request was answered with INVALID_PARTITIONS: Topic already has 6 partition(s). Nothing was changed."},
	{MessageSent{7, "b1", "Produce", 13, 4, false, 10}, "m7 →b1 Produce v13 request 4",
		"Sent a Produce request (version 13, correlation id 4) to b1; it arrives in 10 ms."},
	{MessageDelivered{7, "p0", "Produce", false, true}, "m7 p0→ Produce request held",
		"A Produce request from p0 was taken in, after it had waited for the paused process."},
	{TopicCreated{"orders", 2, 2, [][]kafka.BrokerID{{1, 2}, {2, 3}}}, "orders partitions=2 replicas=0:1,2 1:2,3",
		"Topic orders was created with 2 partitions, replication factor 2. Replicas by partition, the preferred leader first: 0:1, 2; 1:2, 3."},
	{ConnectionLost{"b1", 2, 100, 2}, "b1 requests=2 backoff=100ms",
		"The connection to b1 is gone: 2 requests got no answer, and whether the server carried them out is not known. The client connects again after 100 ms (reconnect.backoff.ms = 50, doubled each time, at most reconnect.backoff.max.ms = 1,000)."},
	{MessageLost{7, "b1", "Produce", true, "its connection was closed before", false}, "m7 b1→ Produce response: its connection was closed before",
		"A Produce response from b1 is lost: its connection was closed before."},
	{MessageHeld{7, "b2", "Fetch", false}, "m7 →b2 Fetch request",
		"A Fetch request to b2 waits: the link is cut. TCP sends it again when the link is healed, unless the connection is closed before."},
	{ConnectionReset{"b1"}, "b1",
		"The connection to b1 is closed: what was asked on it gets no answer."},
	{LinkChanged{"b1", "b2", true, 0, 0, 0}, "b1→b2 cut=true delay=0 drop=0 double=0",
		"The link from b1 to b2 is cut: nothing passes."},
	{BrokerStarted{false, 3}, "clean=false logs=3",
		"The broker starts and registers with the controller. On its disk are 3 partitions, but not the sign of an orderly end: it checks the logs."},
	{BrokerStopped{}, "",
		"The broker stopped in an orderly way: logs and checkpoints are on its disk, and a file with its broker epoch says so."},
	{ShutdownBegun{}, "",
		"The broker wants to shut down: its heartbeats say so until the controller has moved its leaders and lets it go."},
	{ProcessKilled{false}, "",
		"The process was killed. What it had written is in the machine's page cache and stays. The machine tells the other ends of its connections."},
	{DiskWiped{}, "",
		"The disk was wiped: every log on it is gone."},
	{PowerLost{620, 30000}, "bytes=620",
		"Power failed. What stood in the page cache for less than os.writeback.ms = 30,000 ms and was not synced is gone: 620 bytes. Nobody is told: others wait for answers until their time-outs."},
	{DiskSpeedChanged{200}, "delay=200",
		"The disk is slow: each write takes 200 ms, one after another."},
	{RegistrationFailed{"DUPLICATE_BROKER_REGISTRATION", 100}, "DUPLICATE_BROKER_REGISTRATION retry=100",
		"The controller answered the registration with DUPLICATE_BROKER_REGISTRATION; the broker tries again in 100 ms. It still counts the process before as alive, until broker.session.timeout.ms have passed without a heartbeat."},
	{MetadataFollowed{8, 10}, "8→10",
		"The broker applied 2 records of the metadata log; it has read up to offset 9."},
	{LogOpened{orders3, false, 12, 40}, "orders-3 clean=false leo=12 dropped=40B",
		"orders-3: the log was checked batch by batch and ends at offset 12; 40 bytes of a torn batch behind it were dropped."},
	{LeadershipTaken{orders3, 4, 12, 10, []kafka.BrokerID{2, 3}}, "orders-3 epoch=4 from=12 hw=10 isr=2,3",
		"This broker leads orders-3 in leader epoch 4, which begins at its log end offset 12. The in-sync replicas are 2, 3; consumers may read up to its high watermark, 10."},
	{FollowingBegun{orders3, 2, 4, 12}, "orders-3 leader=2 epoch=4 from=12",
		"This broker follows broker 2 in orders-3, leader epoch 4: it fetches from its own log end offset 12 on."},
	{LeaderlessLearned{orders3, 5}, "orders-3 epoch=5",
		"orders-3 has no leader since leader epoch 5: this broker neither serves nor fetches it."},
	{BatchReplicated{orders3, 41, 43, 220, 0, 4200}, "orders-3 41..43 220B segment=0@4200",
		"The follower copied from the leader: orders-3 got 3 records in a batch of 220 bytes: offsets 41 to 43, at byte 4,200 of 00000000000000000000.log."},
	{HighWatermarkFollowed{orders3, 8, 10, 12}, "orders-3 8→10 leader=12",
		"orders-3: the follower's high watermark is 10 now (was 8): the leader's answer says 12, and it goes no further than the follower's own log."},
	{LogTruncated{orders3, 10, 8, 2, 2, 1, 8, "epoch 0 ends at offset 8 at the leader and at 10 here", nil}, "orders-3 10→8 records=2 leader=2 epoch=1: epoch 0 ends at offset 8 at the leader and at 10 here",
		"orders-3: the follower cut its log from 10 to 8 to agree with broker 2, the leader of epoch 1 (epoch 0 ends at offset 8 at the leader and at 10 here). 2 records are gone here."},
	{ReplicaFetchFailed{orders3, 2, "NOT_LEADER_OR_FOLLOWER", 1000}, "orders-3 leader=2 NOT_LEADER_OR_FOLLOWER retry=1000",
		"The fetch from broker 2 failed with NOT_LEADER_OR_FOLLOWER for orders-3: it fetches again after replica.fetch.backoff.ms = 1,000."},
	{ISRProposed{orders3, []kafka.BrokerID{1, 2, 3}, []kafka.BrokerID{1, 2}, "broker 3 has not been caught up for more than replica.lag.time.max.ms = 30,000 ms"}, "orders-3 isr=1,2,3→1,2: broker 3 has not been caught up for more than replica.lag.time.max.ms = 30,000 ms",
		"The leader of orders-3 asks the controller to change the in-sync replicas from 1, 2, 3 to 1, 2: broker 3 has not been caught up for more than replica.lag.time.max.ms = 30,000 ms. Until it is answered, the larger set decides about the high watermark."},
	{ISRCommitted{orders3, []kafka.BrokerID{1, 2}, 7}, "orders-3 isr=1,2 partition-epoch=7",
		"The controller has agreed: the in-sync replicas of orders-3 are 1, 2 (partition epoch 7)."},
	{LogStartOffsetMoved{orders3, 0, 4, true}, "orders-3 0→4 leader=true",
		"orders-3: the log start offset moved from 0 to 4, as DeleteRecords asked. No record below it can be read any more; it may move up to the high watermark. The bytes stay until retention removes their segments."},
	{DeletionParked{"admin", 60000}, "from=admin timeout=60000",
		"The DeleteRecords request of admin is answered when the logs of all live replicas begin where it said, at most after its time-out of 60,000 ms."},
	{CoordinatorNotFound{"billing", false, "COORDINATOR_NOT_AVAILABLE", "__consumer_offsets does not exist yet"}, "billing COORDINATOR_NOT_AVAILABLE: __consumer_offsets does not exist yet",
		"FindCoordinator of group billing is answered with COORDINATOR_NOT_AVAILABLE: __consumer_offsets does not exist yet. The client asks again after retry.backoff.ms."},
	{OffsetsTopicRefused{"__consumer_offsets", 3, "INVALID_REPLICATION_FACTOR", "Unable."}, "__consumer_offsets replication.factor=3 INVALID_REPLICATION_FACTOR: Unable.",
		"The controller did not create __consumer_offsets with offsets.topic.replication.factor = 3. Unable. Until it can be created no group has a coordinator."},
	{CoordinatorElected{orders3, 2, 1, 4}, "orders-3 epoch=2 records=1 leo=4",
		"The leader of orders-3 is the coordinator of the groups whose id hashes to it: since leader epoch 2 that is this broker. It reads the log up to its end, offset 4, and so learns of groups and offsets from 1 record."},
	{NotCoordinator{"c1", "Heartbeat", "billing", orders3, -1}, "from=c1 Heartbeat billing orders-3 leader=-1",
		"The Heartbeat request of c1 is answered with NOT_COORDINATOR: group billing lives on orders-3, of which this broker knows no leader. The client looks for the coordinator again."},
	{GroupWriteParked{orders3, 4, 5000}, "orders-3 waits=4 timeout=5000",
		"orders-3: what the coordinator wrote counts when every in-sync replica has it: when the high watermark is 4. Who asked for it waits at most offsets.commit.timeout.ms = 5,000 ms."},
	{GroupAppendFailed{orders3, "NOT_ENOUGH_REPLICAS", "too few"}, "orders-3 NOT_ENOUGH_REPLICAS: too few",
		"orders-3: the coordinator could not write: NOT_ENOUGH_REPLICAS, too few. Nothing was appended."},
	{CoordinatorFound{"billing", "b2"}, "billing b2",
		"The coordinator of group billing is b2: it leads the group's partition of __consumer_offsets."},
	{CoordinatorLost{"billing", "b2", "Heartbeat was answered with NOT_COORDINATOR"}, "billing b2: Heartbeat was answered with NOT_COORDINATOR",
		"b2 does not count as the coordinator of group billing any more: Heartbeat was answered with NOT_COORDINATOR. The client asks for it again."},
	{JoinSent{"billing", "its process has started", "", -1, []string{"range"}, nil}, "billing generation=-1 [range] owned=[]: its process has started",
		"Sends JoinGroup for group billing: its process has started. It owns no partition while it joins."},
	{AssignmentComputed{"billing", 3, "cooperative-sticky", []MemberShare{{"billing-1-x", []kafka.TopicPartition{orders3}}, {"billing-2-y", nil}}, []kafka.TopicPartition{{Topic: "orders", Partition: 1}}}, "billing generation=3 cooperative-sticky billing-1-x=[orders-3] billing-2-y=[] withheld=[orders-1]",
		"As the leader of group billing in generation 3 it works out the assignment by the cooperative-sticky assignor: billing-1-x gets orders-3; billing-2-y gets none. Nobody gets orders-1 in this round: whoever owns it must give it up first."},
	{PartitionsTaken{"billing", 3, "range", []kafka.TopicPartition{{Topic: "orders", Partition: 1}, orders3}, []kafka.TopicPartition{orders3}, 0}, "billing generation=3 range [orders-1 orders-3] added=[orders-3]",
		"Owns orders-1, orders-3 in generation 3 of group billing; orders-3 is new."},
	{PartitionsRevoked{"billing", []kafka.TopicPartition{orders3}, true, 2, 0}, "billing [orders-3] COOPERATIVE",
		"Gives up orders-3 of group billing: a cooperative member gives up only what others get, and then joins once more. 2 records that poll had returned and nobody had begun with are dropped."},
	{PartitionsLost{"billing", []kafka.TopicPartition{orders3}}, "billing [orders-3]",
		"Lost orders-3 of group billing: it is not a member any more, others may own them already. Nothing can be committed for them."},
	{MembershipLost{"billing", "Heartbeat", "UNKNOWN_MEMBER_ID", "billing-1-x", 3, 0}, "billing billing-1-x generation=3 Heartbeat UNKNOWN_MEMBER_ID",
		"Heartbeat of group billing was answered with UNKNOWN_MEMBER_ID: in generation 3 it is a member no more. It joins again when its application polls."},
	{PollIntervalExceeded{"billing", 300000, false, 0}, "billing 300000ms",
		"The application has not polled for max.poll.interval.ms = 300,000 ms: the client leaves the group by itself, while the application goes on working."},
	{ConsumerClosed{"billing", "it is no member", 0}, "billing no LeaveGroup: it is no member",
		"The consumer is closed. It sends no LeaveGroup to group billing: it is no member."},
	{ConsumerFailed{"billing", "JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"}, "billing JoinGroup INCONSISTENT_GROUP_PROTOCOL",
		"JoinGroup of group billing failed with INCONSISTENT_GROUP_PROTOCOL, which no retry mends: poll throws it, and the application ends."},
	{PositionCommitted{"billing", orders3, 5, "earliest"}, "billing orders-3 committed=5",
		"Reading of orders-3 begins at offset 5, which group billing has committed."},
	{RecordProcessed{"billing", orders3, 6, 0, 2, "The sink applies its effect once more"}, "billing orders-3@6 times=2 The sink applies its effect once more",
		"Processed the record of orders-3 at offset 6 once more: it is the 2nd time in group billing. The sink applies its effect once more."},
	{ProcessingFailed{orders3, 2, 3, "after 3 attempts it goes to the dead-letter topic orders.DLT"}, "orders-3@2 attempt=3: after 3 attempts it goes to the dead-letter topic orders.DLT",
		"The handler failed at the record of orders-3 at offset 2, attempt 3: after 3 attempts it goes to the dead-letter topic orders.DLT."},
	{DeadLetterSent{orders3, 2, kafka.TopicPartition{Topic: "orders.DLT"}, 0}, "orders-3@2 → orders.DLT-0@0",
		"The record of orders-3 at offset 2 stands in the dead-letter topic: orders.DLT-0, offset 0."},
	{CommitSent{"billing", "commitSync after the batch", 3, []CommitOffset{{orders3, 5}}, 0}, "billing generation=3 orders-3→5: commitSync after the batch",
		"Commits orders-3→5 for group billing (commitSync after the batch)."},
	{CommitAccepted{"billing", []CommitOffset{{orders3, 5}}}, "billing orders-3→5",
		"The commit of orders-3→5 for group billing is done."},
	{CommitFailed{"billing", []CommitOffset{{orders3, 5}}, "UNKNOWN_MEMBER_ID", "commitSync throws, and the application polls"}, "billing orders-3→5 UNKNOWN_MEMBER_ID: commitSync throws, and the application polls",
		"The commit of orders-3→5 for group billing failed with UNKNOWN_MEMBER_ID: commitSync throws, and the application polls."},
	{CrashArmed{"after processing orders-0 @6"}, "after processing orders-0 @6",
		"It will crash after processing orders-0 @6."},
	{ConsumerCrashed{"before commit"}, "before commit",
		"The process crashes before commit. What it had not committed it has forgotten; the group does not notice before its session ends."},
	{SinkFull{orders3, 6, 2, 400}, "orders-3@6 capacity=2 wait=400ms",
		"The record of orders-3 at offset 6 waits 400 ms for the sink, which takes 2 effects a tick of all consumers together."},
	{PositionMoved{orders3, 7, 3, "you asked for it"}, "orders-3 7→3 you asked for it",
		"seek moves the position in orders-3 to 3: you asked for it. What is committed stays as it is."},
	{OffsetsReset{"billing", "earliest", []OffsetChange{{orders3, 5, 0}, {kafka.TopicPartition{Topic: "orders"}, -1, 2}}}, "billing to earliest: orders-3 5→0 orders-0 none→2",
		"The offsets of group billing are set to earliest: orders-3 5→0, orders-0 none→2. The log is as it was."},
	{ResetFailed{"billing", "TimeoutException", "no coordinator answered"}, "billing TimeoutException: no coordinator answered",
		"The offsets of group billing could not be reset (TimeoutException): no coordinator answered. They stay as they are."},
	{ResetRefused{"billing", "Stable", 2}, "billing state=Stable members=2",
		"The offsets of group billing are not reset: the tool does that only while a group is inactive, and this one is Stable with 2 members."},
	{ISRProposalFailed{orders3, "INELIGIBLE_REPLICA"}, "orders-3 INELIGIBLE_REPLICA",
		"The change of the in-sync replicas of orders-3 was answered with INELIGIBLE_REPLICA: what held before holds."},
	{ProduceParked{"p0", []WaitsFor{{orders3, 44}}, 30000}, "from=p0 waits=orders-3 at 44 timeout=30000",
		"The write of p0 waits (acks=all) for the high watermark: orders-3 at 44. It waits at most request.timeout.ms = 30,000 ms."},
	{ProduceTimedOut{"p0", []WaitsFor{{orders3, 44}}, 30000}, "from=p0 waits=orders-3 at 44 timeout=30000",
		"The write of p0 is answered with REQUEST_TIMED_OUT: within 30,000 ms the high watermark did not come to orders-3 at 44. The records are in the leader's log and may still be committed."},
	{DuplicateRecognised{orders3, 41, 43}, "orders-3 41..43",
		"orders-3 takes this batch for the one that it has at offsets 41 to 43: producer id, epoch and sequence numbers are those of one of the producer's last five batches. Nothing is written; the answer is yes, with the old offset."},
	{ProducerStateExpired{orders3, 1000, 6, 86400123, 86400000}, "orders-3 id=1000 last-sequence=6 idle=86400123ms",
		"orders-3 forgot producer id 1000, whose last sequence was 6: it has written nothing for 86,400,123 ms, at least producer.id.expiration.ms = 86,400,000. Its next batch is taken with any sequence."},
	{RequestFailed{"CreateTopics", "NETWORK_EXCEPTION"}, "CreateTopics NETWORK_EXCEPTION",
		"The CreateTopics request failed with NETWORK_EXCEPTION: no answer came, and whether it was carried out is not known."},
	{RequestTimedOut{"b1", "Produce", 30000, ""}, "b1 Produce request.timeout.ms=30000",
		"b1 did not answer the Produce request within request.timeout.ms = 30,000 ms: the client closes the connection."},
	{ResponseIgnored{"b1", "Produce", 4}, "b1 Produce 4", "A Produce response from b1 was ignored: no request with correlation id 4 waits for an answer."},
	{LeaderLearned{orders3, "b1", "b2", 5, "Metadata"}, "orders-3 b1→b2 epoch=5 by Metadata",
		"The client learned from a Metadata response that b2 leads orders-3 in leader epoch 5; it knew of b1."},
	{PartitionsAdded{"orders", 4, 6}, "orders partitions=4→6",
		"Topic orders has 6 partitions now, it had 4. The new ones are empty: no record moves. Clients learn of them at their next Metadata request."},
	{BatchAppended{orders3, 41, 43, 220, 0, 4200}, "orders-3 41..43 220B segment=0@4200",
		"orders-3 got 3 records in a batch of 220 bytes: offsets 41 to 43, at byte 4,200 of 00000000000000000000.log."},
	{SegmentRolled{orders3, 44, "size 980 + 120 > segment.bytes 1,000"}, "orders-3 base=44 size 980 + 120 > segment.bytes 1,000",
		"orders-3 began the segment 00000000000000000044.log: size 980 + 120 > segment.bytes 1,000."},
	{IndexEntryAdded{orders3, 43, 4200, 4096}, "orders-3 43@4200",
		"orders-3 got the index entry offset 43 at byte 4,200: more than index.interval.bytes = 4,096 bytes had come since the last."},
	{HighWatermarkAdvanced{orders3, 41, 44, 45, 3}, "orders-3 41→44 leo=45 epoch=3",
		"orders-3: consumers may read up to offset 43 (high watermark 44, was 41); every in-sync replica has that much."},
	{ProduceRefused{orders3, "INVALID_RECORD", "base offset 3; 0 is allowed"}, "orders-3 INVALID_RECORD: base offset 3; 0 is allowed",
		"orders-3 refused a batch with INVALID_RECORD: base offset 3; 0 is allowed. Nothing was written."},
	{BrokerRegistered{2, 14, "east", 5, false, false, -1}, "broker=2 epoch=14 previous=5 clean=false rack=east",
		"Broker 2 registered with broker epoch 14, the offset that the metadata log had reached. It begins fenced: it leads nothing and is in no ISR until a heartbeat shows that it has read its own registration. " +
			"Its last process, epoch 5, had not shut down cleanly: the request names no epoch before."},
	{BrokerFenced{2, 14, "no heartbeat came for 9,125 ms, longer than broker.session.timeout.ms = 9,000"},
		"broker=2 epoch=14: no heartbeat came for 9,125 ms, longer than broker.session.timeout.ms = 9,000",
		"The controller fenced broker 2: no heartbeat came for 9,125 ms, longer than broker.session.timeout.ms = 9,000. A fenced broker leads no partition and is in no ISR, the last member of an ISR without eligible leader replicas apart."},
	{BrokerUnfenced{2, 14, 15, 14}, "broker=2 epoch=14 read=15 registered=14",
		"The controller unfenced broker 2: its heartbeat says that it has read the metadata log up to offset 15, and its own registration is at offset 14."},
	{ControlledShutdownBegun{2, 14, 3}, "broker=2 epoch=14 leads=3",
		"Broker 2 asked to shut down while it led 3 partitions. It leaves every ISR and its partitions get other leaders; it may stop once it leads nothing and every active broker has read of that."},
	{LeaderElected{orders3, 1, 2, 4, []kafka.BrokerID{1, 2, 3}, []kafka.BrokerID{2, 3}, nil, nil, true, "broker 2 is the first"},
		"orders-3 1→2 epoch=4 isr=[1,2,3]→[2,3] clean",
		"Broker 2 leads orders-3 now, after broker 1, with leader epoch 4: broker 2 is the first. In-sync replicas: 2, 3, before 1, 2, 3."},
	{LeaderLost{orders3, 1, 5, []kafka.BrokerID{1}, nil, []kafka.BrokerID{2}, []kafka.BrokerID{1, 2}, "nobody is alive"},
		"orders-3 1→-1 epoch=5 isr=[1]→[] elr=[2]→[1,2]",
		"orders-3 has no leader now, after broker 1, with leader epoch 5: nobody is alive. Nothing is written to it or read from it. In-sync replicas: none, before 1. Eligible leader replicas: 1, 2, before 2."},
	{ISRChanged{orders3, []kafka.BrokerID{1, 2, 3}, []kafka.BrokerID{1, 2}, nil, nil, 4, 7, false, "its leader, broker 1, asked"},
		"orders-3 isr=[1,2,3]→[1,2] epoch=4 partition-epoch=7",
		"orders-3 has partition epoch 7 now and keeps leader epoch 4, as its leader, broker 1, asked. In-sync replicas: 1, 2, before 1, 2, 3."},
	{AlterPartitionRefused{orders3, 1, []kafka.BrokerID{1, 2}, "INELIGIBLE_REPLICA", "broker 2 is fenced"},
		"orders-3 broker=1 isr=[1,2] INELIGIBLE_REPLICA: broker 2 is fenced",
		"Broker 1 asked for the in-sync replicas 1, 2 of orders-3 and was answered with INELIGIBLE_REPLICA: broker 2 is fenced. Nothing was changed."},
	{ConfigChanged{"topic orders", "min.insync.replicas", "1", "2", true}, `topic orders min.insync.replicas="1"→"2" elr cleared`,
		"Topic orders has min.insync.replicas = 2 now; before it was 1. The eligible leader replicas are forgotten: they were chosen by the old minimum."},
	{ProducerIDsAllocated{1, 1000, 1999}, "broker=1 1000..1999", "Broker 1 may give out the producer ids 1000 to 1999: a block of 1,000 that no other broker gets."},
	{MetadataFetchParked{"b1", 14, 500}, "b1 @14 wait=500ms",
		"The fetch of b1 waits here: it has all of the metadata log, up to offset 14. It is answered when a record comes, or after 500 ms."},
	{RecordPartitioned{orders3, "user-1", false, false, "murmur2", 1404122828, 12}, `orders-3 key="user-1" murmur2=1404122828 mod 12`,
		`The record with key "user-1" goes to orders-3: its murmur2 hash, as this client maps it, is 1,404,122,828, and that modulo 12 is 3.`},
	{StickyPartitionSwitched{
		From: 2, To: 0, Rule: "sticky", Bytes: 16410, BatchSize: 16384,
		Partitions: []kafka.Partition{0, 1, 2}, Queues: []int{0, 3, 1}, Weights: []int{4, 1, 3},
	}, "2→0 after 16410B batch.size=16384 partitions=0,1,2 queues=0,3,1 weights=4,1,3",
		"Records without a key now go to partition 0, no longer to 2: 2 had got 16,410 bytes, at least batch.size = 16,384, and its last batch was complete. " +
			"A shorter queue gave a better chance in the draw: queue lengths 0, 3, 1 of partitions 0, 1, 2 → weights 4, 1, 3, so 4 of 8 for partition 0."},
	{BatchesSent{2, 3, 185, "the batch of orders-3 had waited 5 ms (linger.ms = 5)"}, "batches=2 records=3 185B: the batch of orders-3 had waited 5 ms (linger.ms = 5)",
		"2 batches with 3 records (185 bytes) went into one Produce request: the batch of orders-3 had waited 5 ms (linger.ms = 5)."},
	{ProduceAcknowledged{orders3, 41, 1, "all"}, "orders-3 base=41 records=1 acks=all",
		"The producer was told that 1 record of orders-3 was written from offset 41 (acks=all)."},
	{ProduceFailed{orders3, 3, "MESSAGE_TOO_LARGE"}, "orders-3 records=3 MESSAGE_TOO_LARGE",
		"The producer gave up 3 records for orders-3: the broker answered MESSAGE_TOO_LARGE."},
	{SendingStopped{3}, "held=3", "The application hands in no more records. The producer still sends what it holds: 3 records."},
	{RecoveryBegun{2, 5, 1000}, "logs=2 segments=5 1000ms",
		"The broker reads 5 segments of 2 partitions from the beginning, drops what is torn and writes the indexes anew. On its slow disk that takes 1,000 ms; until then it stays fenced and leads nothing."},
	{SendingStarted{6}, "partitions=6", "The application hands in records again. The producer divides them among the 6 partitions that it knows of."},
	{ClockSet{86400000}, "skew=86400000", "The clock of the producer's machine is 86,400,000 ms ahead of the brokers' now. Its records say so unless the topic has message.timestamp.type = LogAppendTime: a producer writes its own time into them."},
	{SegmentsDeleted{orders3, []kafka.Offset{0, 121}, 16940, "retention.ms", "largest timestamp 600,001 ms ago > retention.ms 600,000", 0, 242, -1, 60000},
		"orders-3 segments=0,121 16940B retention.ms start=0→242: largest timestamp 600,001 ms ago > retention.ms 600,000",
		"orders-3 let go of 2 segments (16,940 bytes: 0, 121) by retention.ms: largest timestamp 600,001 ms ago > retention.ms 600,000. The log begins at offset 242 now, it did at 0; a fetch from below is answered with OFFSET_OUT_OF_RANGE. The files stay with the suffix .deleted for file.delete.delay.ms = 60,000."},
	{SegmentsKept{orders3, 2, []string{"retention.bytes is -1: no limit", "largest timestamp 5 ms ago ≤ retention.ms 600"}, 300000, "log.retention.check.interval.ms"},
		"orders-3 oldest=2: retention.bytes is -1: no limit; largest timestamp 5 ms ago ≤ retention.ms 600",
		"A check of retention left all segments of orders-3: the oldest one (2) stays, and newer ones never go before it: retention.bytes is -1: no limit; largest timestamp 5 ms ago ≤ retention.ms 600. The check comes every log.retention.check.interval.ms = 300,000."},
	{FilesRemoved{orders3, []string{"00000000000000000000.log.deleted", "00000000000000000000.index.deleted"}, 1500, 60000}, "orders-3 files=2 1500B",
		"2 .deleted files of orders-3 with 1,500 bytes went from the disk: file.delete.delay.ms = 60,000 are over."},
	{LogCleaned{orders3, 0, 6, 3, 6, []RemovedRecord{{0, "superseded", 5}, {1, "superseded", 4}, {2, "keyless", -1}}, []kafka.Offset{0, 3}, []kafka.Offset{0}, 419, 210, []kafka.Offset{4}, 1000, "419 of 419 bytes are dirty, 1 > min.cleanable.dirty.ratio 0.5"},
		"orders-3 dirty=0..5 keys=3 records=6-3 segments=0,3→0 419→210B: 419 of 419 bytes are dirty, 1 > min.cleanable.dirty.ratio 0.5",
		"The cleaner cleaned orders-3 (419 of 419 bytes are dirty, 1 > min.cleanable.dirty.ratio 0.5). It noted the last offset of 3 keys between offsets 0 and 5, then wrote 2 segments anew as 1 segment: 6 records read, 3 gone, 419 bytes before, 210 after. Gone: 2 superseded, 1 keyless. 1 batch with a tombstone or a marker was met for the first time and may go with a cleaning once delete.retention.ms = 1,000 have passed."},
	{LogNotCleaned{orders3, "40 of 100 bytes are dirty, 0.4 ≤ min.cleanable.dirty.ratio 0.5", 15000}, "orders-3: 40 of 100 bytes are dirty, 0.4 ≤ min.cleanable.dirty.ratio 0.5",
		"The cleaner left orders-3: 40 of 100 bytes are dirty, 0.4 ≤ min.cleanable.dirty.ratio 0.5. It looks again every log.cleaner.backoff.ms = 15,000."},
	{CleaningFailed{orders3, "no batch"}, "orders-3: no batch", "The cleaner cannot clean orders-3: no batch. It leaves this log alone until the broker starts again."},
	{BatchRetried{orders3, 2, "NOT_LEADER_OR_FOLLOWER", 1, 100, -1}, "orders-3 records=2 NOT_LEADER_OR_FOLLOWER attempt=1 backoff=100ms",
		"Attempt 1 for 2 records of orders-3 failed with NOT_LEADER_OR_FOLLOWER, which may pass. The batch goes back to the front of its queue and is sent again after 100 ms (retry.backoff.ms = 100, doubled each time, at most retry.backoff.max.ms = 1,000), or at once when the leader changes. It carries no sequence: if the first copy was written, the second one is written too."},
	{BatchSplit{orders3, 4, 900, 2, 450}, "orders-3 records=4 900B into=2 target=450B",
		"The leader of orders-3 refused a batch of 900 bytes with MESSAGE_TOO_LARGE. The producer divides its 4 records into 2 batches of at most 450 bytes and sends them again; that counts as no attempt."},
	{BatchExpired{orders3, 2, 120000, 3, false}, "orders-3 records=2 delivery.timeout.ms=120000 attempts=3",
		"The producer gave up 2 records for orders-3: delivery.timeout.ms = 120,000 ms passed since the batch was begun. The batch was sent before, so it may stand in the log all the same."},
	{ProducerIDAssigned{1000, 0}, "id=1000 epoch=0",
		"The producer got producer id 1000, epoch 0 (enable.idempotence = true). With it each batch carries a sequence, and a leader writes no batch twice."},
	{ProducerEpochBumped{1000, 0, 1, []kafka.TopicPartition{orders3}, "a batch failed"}, "id=1000 epoch=0→1 [orders-3] a batch failed",
		"The producer raises its own epoch from 0 to 1: a batch failed. Sequences of orders-3 begin again at 0, and what is still to be sent there is numbered anew."},
	{ProducerMemoryLost{5, 2}, "records=5 in-flight=2",
		"The process ended with 5 records in its memory that had no acknowledgement. 2 of them had been sent and may be written; the others are lost."},
	{MetadataLearned{"orders", 6, 4}, "orders partitions=6", "The client learned from a Metadata response that orders has 6 partitions; it knew of 4."},
	{PartitionsAssigned{"billing", "range", nil, "6 members share 4 partitions"}, "billing range []",
		"Assigned no partition in group billing by the range assignor: 6 members share 4 partitions."},
	{PositionReset{orders3, 0, "earliest", -1}, "orders-3 →0 auto.offset.reset=earliest",
		"Reading of orders-3 begins at offset 0: there was no position, and auto.offset.reset=earliest asks the leader for that end of the log."},
	{FetchParked{"c1", 1, 500}, "c1 min=1B wait=500ms",
		"The fetch of c1 waits here: fewer than fetch.min.bytes = 1 bytes are there for it; it is answered when they are, or after fetch.max.wait.ms = 500 ms."},
	{RecordsRead{TopicPartition: orders3, From: 42, To: 44, Records: 2, Skipped: 1}, "orders-3 42→44 records=2 skipped=1",
		"Read 2 records of orders-3; the position moves from 42 to 44. 1 record before the position came along, because a response begins with the whole batch that holds it."},
	{FetchFailed{orders3, 42, "OFFSET_OUT_OF_RANGE"}, "orders-3 @42 OFFSET_OUT_OF_RANGE", "The fetch of orders-3 at offset 42 was answered with OFFSET_OUT_OF_RANGE."},
	{PositionValidated{orders3, 42, 4, 50}, "orders-3 @42 epoch=4 end=50",
		"The leader of orders-3 has epoch 4 up to offset 50, which is not below the position 42: nothing that was read is missing there, and reading goes on."},
	{LogTruncationDetected{orders3, 42, 4, 4, 40, "earliest"}, "orders-3 @42 epoch=4 leader epoch=4 end=40 auto.offset.reset=earliest",
		"The log of orders-3 was truncated: the position is 42, last record of epoch 4, but the new leader has epoch 4 only up to offset 40. Records from there on were read and are in the log no longer. Reading goes on at offset 40."},
	{PreferredReplicaChosen{orders3, "b2", "zone-b", 300000}, "orders-3 b2 client.rack=zone-b for 300000ms",
		"The leader of orders-3 names b2 as the replica to read from for client.rack=zone-b. The consumer fetches there for metadata.max.age.ms = 300,000 ms, then asks the leader again."},
	{EventSeenLate{"user-1", 1, kafka.TopicPartition{Topic: "orders", Partition: 2}, 0, 2, kafka.TopicPartition{Topic: "orders", Partition: 0}, 0, 31, true},
		`"user-1" event 1 orders-2@0 after event 2 orders-0@0 refused`,
		"Event 1 of user-1 (orders-2, offset 0) was seen after its event 2 (orders-0, offset 0, tick 31). The destination has version 2 and refuses version 1."},
}

// A switch of the sticky partition says what made it due and how the draw was made.
func TestStickySwitchWords(t *testing.T) {
	const due = "2 had got 16,410 bytes, at least batch.size = 16,384, and its last batch was complete."
	for _, test := range []struct {
		body     StickyPartitionSwitched
		sentence string
	}{
		{StickyPartitionSwitched{From: 2, To: 0, Rule: "sticky", Bytes: 16410, BatchSize: 16384},
			"Records without a key now go to partition 0, no longer to 2: " + due + " Each partition had the same chance in the draw."},
		{StickyPartitionSwitched{From: 2, To: 2, Rule: "sticky", Bytes: 16410, BatchSize: 16384},
			"Records without a key stay with partition 2, which was drawn again: " + due + " Each partition had the same chance in the draw."},
		{StickyPartitionSwitched{From: 2, To: 1, Rule: "sticky", Bytes: 32800, BatchSize: 16384, Forced: true},
			"Records without a key now go to partition 1, no longer to 2: 2 had got 32,800 bytes, at least twice batch.size = 16,384, " +
				"which forces a switch although its last batch was not complete. Each partition had the same chance in the draw."},
		{StickyPartitionSwitched{From: 2, To: 1, Rule: "sticky-480"},
			"Records without a key now go to partition 1, no longer to 2: a record needed a new batch there, for no batch of 2 could take it."},
	} {
		if got := test.body.Sentence(); got != test.sentence {
			t.Errorf("%+v:\nsentence %q\n    want %q", test.body, got, test.sentence)
		}
	}
}

// Of a transactional id's coordinator the broker does not know how long who asked for a write waits.
func TestTransactionWriteParkedWords(t *testing.T) {
	e := GroupWriteParked{orders3, 4, 0}
	sentence := "orders-3: what the coordinator wrote counts when every in-sync replica has it: when the high watermark is 4. Who asked for it waits at most the transaction.timeout.ms of the producer."
	if e.Text() != "orders-3 waits=4" || e.Sentence() != sentence {
		t.Errorf("%s\n%s", e.Text(), e.Sentence())
	}
}

func TestEveryKindHasWords(t *testing.T) {
	var kinds []string
	for _, s := range slices.Concat(samples, groupSamples, consumerGroupSamples, consumerSamples, transactionSamples, markerSamples, producerTransactionSamples, outboxSamples) {
		kinds = append(kinds, s.body.Kind())
		if name := strings.TrimPrefix(fmt.Sprintf("%T", s.body), "journal."); name != s.body.Kind() {
			t.Errorf("%s calls itself %s", name, s.body.Kind())
		}
		s.check(t)
		encoded, err := json.Marshal(Event{Tick: 4, Seq: 9, Cause: 8, Node: "b1", Body: s.body})
		var fields map[string]any
		if err == nil {
			err = json.Unmarshal(encoded, &fields)
		}
		if err != nil || fields["kind"] != s.body.Kind() || fields["tick"] != 4.0 || fields["seq"] != 9.0 || fields["cause"] != 8.0 || fields["node"] != "b1" {
			t.Errorf("%s: JSON %s: %v", s.body.Kind(), encoded, err)
		}
	}
	for what, list := range map[string][]string{"in this test": kinds, "of Kinds": Kinds()} {
		slices.Sort(list)
		if diff := cmp.Diff(declaredKinds(t), list); diff != "" {
			t.Errorf("kinds in the source and %s (-source +other):\n%s", what, diff)
		}
	}
}

// declaredKinds finds the types with a method Kind in the package's source.
func declaredKinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Kind" {
				kinds = append(kinds, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

func TestLine(t *testing.T) {
	e := Event{Tick: 4, Seq: 187, Cause: 185, Node: "b2", Body: HighWatermarkAdvanced{kafka.TopicPartition{Topic: "orders"}, 41, 44, 45, 3}}
	if got, want := e.Line(), "t=0004 #00187 b2 HighWatermarkAdvanced orders-0 41→44 leo=45 epoch=3 <#00185"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	timer := Event{Tick: 12, Seq: 3, Node: "c1", Body: NodePaused{}}
	if got, want := timer.Line(), "t=0012 #00003 c1 NodePaused"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}

func TestCausesWalkBackToATimer(t *testing.T) {
	var j Journal
	timer := j.Append("p0", 0, NodePaused{})
	j.Append("c0", 0, NodePaused{})
	sent := j.Append("p0", timer, NodePaused{})
	last := j.Append("b1", sent, NodePaused{})
	var got []uint64
	for _, e := range j.Causes(last) {
		got = append(got, e.Seq)
	}
	if want := []uint64{4, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("causes of %d are %v, want %v", last, got, want)
	}
	if chain := j.Causes(99); chain != nil {
		t.Errorf("causes of an event that is not there: %v", chain)
	}
}

// A clone and its original go on independently, over the borders of chunks too.
func TestEventsOfATick(t *testing.T) {
	var j Journal
	for tick := range kafka.Tick(4) {
		if tick == 2 {
			continue // nothing happens
		}
		j.Tick = tick
		for range 300 * int(tick) {
			j.Append("b1", 0, MetadataLearned{})
		}
	}
	for tick, want := range map[kafka.Tick]int{0: 0, 1: 300, 2: 0, 3: 900, 4: 0} {
		next := uint64(1)
		if tick == 3 {
			next = 301
		}
		n := 0
		for e := range j.Of(tick) {
			if e.Tick != tick || e.Seq != next {
				t.Fatalf("tick %d: event %d of tick %d, want event %d", tick, e.Seq, e.Tick, next)
			}
			n++
			next++
		}
		if n != want {
			t.Errorf("tick %d: %d events, want %d", tick, n, want)
		}
	}
}

func TestClone(t *testing.T) {
	for _, length := range []int{0, 1, chunkEvents - 1, chunkEvents, chunkEvents + 1, 3*chunkEvents + 7} {
		var j Journal
		for range length {
			j.Append("before", 0, NodePaused{})
		}
		clone := j.Clone()
		for range 2 * chunkEvents {
			j.Append("original", 0, NodePaused{})
			clone.Append("clone", 0, NodePaused{})
		}
		for seq := uint64(1); seq <= uint64(j.Len()); seq++ {
			a, _ := j.At(seq)
			b, _ := clone.At(seq)
			wantA, wantB := kafka.NodeID("original"), kafka.NodeID("clone")
			if seq <= uint64(length) {
				wantA, wantB = "before", "before"
			}
			if a.Node != wantA || b.Node != wantB || a.Seq != seq || b.Seq != seq {
				t.Fatalf("cloned at %d, event %d: %s and %s, want %s and %s", length, seq, a.Node, b.Node, wantA, wantB)
			}
		}
	}
}
