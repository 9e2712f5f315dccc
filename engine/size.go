package engine

// SizeBytes estimates the memory that the run holds and shares with its clones: log bytes and journal.
func (c *Cluster) SizeBytes() int {
	const bytesPerEvent = 180 // the envelope of 56 bytes, a body, and what it refers to
	bytes := c.journal.Len()*bytesPerEvent + c.outside.SizeBytes() + c.controller.LogBytes()
	for _, b := range c.brokers {
		bytes += b.LogBytes()
	}
	return bytes
}

// CloneBytes estimates the memory that a clone takes by itself once it has gone on: the journal's last
// chunk, the clients, what is outside, and the brokers.
func (c *Cluster) CloneBytes() int {
	const chunk, perClient = 32 << 10, 1500
	bytes := chunk + perClient*len(c.clients) + c.outside.CloneBytes()
	for _, b := range c.brokers {
		bytes += b.CloneBytes()
	}
	return bytes
}
