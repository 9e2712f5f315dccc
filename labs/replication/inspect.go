package replication

import "loglab/labs/view"

func (l *layout) inspect() *view.Inspector { return nil }
