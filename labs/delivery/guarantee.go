package delivery

import (
	"fmt"
	"math"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// promise is what a configuration guarantees for one way from orders to an effect, to whom, and where it ends.
type promise struct {
	level string // "at most once", "at least once", "exactly once"
	where string // from what to what
	whom  string // for which readers; empty: for all
	how   string // the mechanism
	ends  string // the line at which it stops
}

// The levels.
const (
	atMostOnce  = "At most once"
	atLeastOnce = "At least once"
	exactlyOnce = "Exactly once"
	noPromise   = "No promise"
)

// readGuarantee says in one paragraph what this configuration guarantees, and its boundary.
func (l *layout) readGuarantee() view.Paragraph {
	var p view.Paragraph
	for i, g := range l.promises() {
		head := g.level + " "
		if i > 0 {
			head = " " + head
		}
		text := g.where
		if g.whom != "" {
			text += ", " + g.whom
		}
		p = append(p, view.Span{Text: head, Strong: true}, view.Span{Text: text + ": " + g.how + ". " + g.ends})
	}
	return append(p, l.durability()...)
}

// durability is what every guarantee rests on: that what was acknowledged is kept. Where it is not, it says so.
func (l *layout) durability() []view.Span {
	least := l.orders.MinISR
	if l.bills != nil {
		least = min(least, l.bills.MinISR)
	}
	text := fmt.Sprintf(" All of it rests on what the replicas keep: with min.insync.replicas = %d as now, what is acknowledged with acks = all stands on %d of them at least, in their page caches.", least, least)
	switch {
	case len(l.orders.Replicas) == 1:
		text = " All of it rests on what the one replica keeps: a power loss takes what is not on its disk yet, acknowledged or not."
	case least == 1:
		text = " All of it rests on what the replicas keep: with min.insync.replicas = 1 one that is alone in sync acknowledges what nobody else has."
	}
	spans := []view.Span{{Text: text}}
	if r := &l.report; len(r.Lost) > 0 {
		spans = append(spans, view.Span{Text: fmt.Sprintf(" %s lost here: ", kafka.Count(len(r.Lost), "acknowledged record")+" "+labs.Verb(len(r.Lost), "was", "were")), Strong: true},
			view.Span{Text: "no log that has a leader has " + labs.Verb(len(r.Lost), "it", "them") + "."})
	}
	return spans
}

// promises are the guarantees of this configuration, one for each way.
func (l *layout) promises() (list []promise) {
	if l.app == nil {
		return []promise{l.producerPromise()}
	}
	if l.bills != nil {
		list = append(list, l.billsPromise())
	}
	if l.outside() != nothing {
		list = append(list, l.outsidePromise())
	}
	return list
}

// producerPromise is what producing to orders guarantees.
func (l *layout) producerPromise() promise {
	v := l.Address.Values
	config, err := producerConfig(v, 0).Resolve()
	if err != nil {
		panic(err) // the address was checked
	}
	p := promise{where: "from a call of send that is acknowledged to its record in orders"}
	gaveUp := fmt.Sprintf("when delivery.timeout.ms = %s is over", kafka.Thousands(config.DeliveryTimeout))
	if config.Retries < math.MaxInt32 {
		gaveUp = fmt.Sprintf("after retries = %s or %s", kafka.Thousands(config.Retries), gaveUp)
	}
	switch {
	case v.Text("outbox") == on && config.Acks != 0:
		p.level, p.where = atLeastOnce, "from a row of the outbox table to a record in orders"
		p.how = "event and row are one database transaction, and the relay publishes a row until it is acknowledged"
		p.ends = "A relay that crashes before it has marked the row publishes it again: readers need the event’s id, as in an inbox table, to know it."
	case producersTransact(v):
		p.level, p.where = exactlyOnce, "from a transaction to its records in orders, all of them or none"
		p.whom = "for read_committed readers"
		p.how = "records count when the COMMIT marker is below the high watermark"
		p.ends = "read_uncommitted readers get them before, the aborted ones too. What is handed in again after an abort or a restart is a new record, and nothing outside the cluster is in it."
		if v.Int("version") == 1 {
			p.ends += " With transaction version 1 a batch that is given up while its transaction is being ended can cost the next one a record: the producer keeps its epoch and uses the sequence again, and a leader that has written the first batch takes the other for its copy."
		}
	case config.Acks == 0:
		p.where = "from a call of send to a record in orders"
		p.level, p.how = atMostOnce, "with acks = 0 nobody answers, so nothing is sent again"
		p.ends = "A request that is lost is lost without a word."
	case config.EnableIdempotence == engine.IdempotenceOn:
		p.level = exactlyOnce
		p.how = "the leader knows each batch by producer id, epoch and sequence, and answers a second copy without writing it"
		p.ends = "It ends at the process and at the call: a new process has a new producer id, and two calls of send with the same content are two records. A call that fails, " + gaveUp + ", has its record once or not at all."
	case config.Retries == 0:
		p.where = "from a call of send to a record in orders"
		p.level, p.how = atMostOnce, "with retries = 0 a batch is sent once"
		p.ends = "If no answer comes, its sender does not know whether it is written; handing it in again can write it twice."
	default:
		p.level, p.how = atLeastOnce, "a batch without an answer is sent again, and without idempotence the leader writes it again"
		p.ends = "When only the answer was lost, the record is there twice" + map[bool]string{true: ", and with more than one request in flight perhaps out of order", false: ""}[config.MaxInFlight > 1] + ". A call that fails, " + gaveUp + ", may have its record or not."
	}
	if config.Acks == 1 && len(l.orders.Replicas) > 1 {
		l.onOneReplica(&p)
	}
	if v.Text("plain") == on {
		p.ends += " The plain producer beside has the default settings: acks = all and idempotence."
	}
	return p
}

// onOneReplica takes back what acks = 1 does not keep: the leader answers alone, before any other replica has the record.
func (l *layout) onOneReplica(p *promise) {
	if p.level == atLeastOnce {
		p.level = noPromise
	}
	p.ends += " And with acks = 1 the leader answers before any other replica has the record: if another leads next, what was acknowledged can be gone."
}

// billsPromise is what the application guarantees from an order to its bill.
func (l *layout) billsPromise() promise {
	v := l.Address.Values
	p := promise{where: "from an order to its bill"}
	if l.outside() == toOffsets {
		p.level = atMostOnce
		p.how = "the application begins where the database says, which moves with each row and not with the bills"
		p.ends = "A crash between a row and the commit of its bill loses the bill: two systems, two offsets."
		if v.Int("instances") > 1 && !appTransacts(v) {
			p.level = noPromise
			p.ends += " And an instance that was taken for dead and goes on writes its bill, though its row is refused: then there are two."
		}
		return l.withAborted(l.withRetries(p))
	}
	switch {
	case appTransacts(v):
		p.level, p.whom = exactlyOnce, "for read_committed readers of bills"
		p.how = "bills and the offsets of their orders are one transaction"
		p.ends = "read_uncommitted readers also get the bills of aborted transactions, and nothing outside the cluster is in it."
	case v.Text("commit") == commitFirst:
		p.level = atMostOnce
		p.how = "the offset is committed before the bill is written"
		p.ends = "A crash between the two loses the bill: whoever reads on begins behind its order."
		p = l.withRetries(p)
	default:
		p.level = atLeastOnce
		p.how = "the bill is written before the offset is committed"
		p.ends = "A crash between the two writes it again. Idempotence does not help: the application sends it by a new call."
	}
	return l.withAborted(p)
}

// withAborted says whose orders count too, where the application reads what may still be aborted.
func (l *layout) withAborted(p promise) promise {
	if !l.readsCommitted() && producersTransact(l.Address.Values) {
		p.ends += " The application reads with read_uncommitted: orders whose transaction is aborted count too."
	}
	return p
}

// withRetries takes back that a bill is written at most once, where the application's producer can write one again.
func (l *layout) withRetries(p promise) promise {
	plain, err := appProducer(l.Address.Values, 0).Resolve()
	if err != nil {
		panic(err) // the address was checked
	}
	if plain.EnableIdempotence != engine.IdempotenceOn {
		p.level = noPromise
		p.ends += " And without idempotence a bill whose answer is lost is written again."
	}
	return p
}

// outsidePromise is what holds for what is outside the cluster.
func (l *layout) outsidePromise() promise {
	v := l.Address.Values
	p := promise{where: "from an order to its " + effectNames[l.outside()]}
	switch l.outside() {
	case toOnce:
		p.level = exactlyOnce
		p.how = "an order that is processed again is known by topic, partition and offset, and ignored"
		p.ends = "The same event in another record, written twice or by a second call of send, is another row."
	case toInbox:
		p.level = exactlyOnce
		p.how = "the id of each event is kept in an inbox table, in one database transaction with its row, and ignored when it comes again, in whatever record"
		p.ends = "It holds for this database alone, and as long as it keeps the ids."
	case toOffsets:
		p.level = exactlyOnce
		p.how = "the database keeps the offset with the row in one transaction of its own, and the application begins there"
		p.ends = "It holds for this database alone; what is committed in Kafka does not count for it."
	case toEmail:
		p.level = atLeastOnce
		p.how = "an order that is processed again is sent again"
		p.ends = "An e-mail is in no transaction, and nothing takes it back."
	default:
		p.level = atLeastOnce
		p.how = "an order that is processed again is inserted again"
		p.ends = "The row is in no transaction of the cluster’s: an abort does not take it back."
	}
	first := v.Text("commit") == commitFirst && !appTransacts(v)
	switch {
	case first && l.outside() == toOffsets:
		p.level = atMostOnce
		p.ends += " Before its first row it begins where its group has committed, which is done before the work: a crash there loses rows."
	case first:
		p.level, p.how = atMostOnce, "the offset is committed before the effect"
		p.ends = fmt.Sprintf("A crash between the two loses the %s.", effectNames[l.outside()])
	}
	return l.withAborted(p)
}
