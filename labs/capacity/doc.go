// Package capacity says what a cluster has to be able to do for a load: storage, network, partitions, consumers, and how
// long a group takes to catch up after it was away. It is arithmetic; no engine runs.
//
// An [Input] is the whole state of the page /capacity, and [Input.Address] its one address: fields in the order of
// [Fields], defaults left out, numbers in one spelling. [Parse] reads a query; what is wrong with a field is an error
// of that field, so that the form can show it there.
//
// [Input.Results] gives for each result its values with units, the formula with the numbers in it, and what it
// assumes. Records and bytes are counted in SI units (1 GB = 1,000,000,000 B); what is rounded has three digits that
// count. A number of consumers or of replicas is rounded up, a time too.
//
// Example:
//
//	in, wrong, err := capacity.Parse("rate=50000&retention=24")
//	for _, section := range in.Results() { … }
package capacity
