package segments

import (
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectFrame is the frame as the parts of the inspector take it that all labs share.
func (l *layout) inspectFrame() inspect.Frame {
	return inspect.Frame{Frame: l.Frame, Topic: topic, Group: readers, Config: l.config}
}

// inspectAt shows what the address points at; nil when it points at nothing.
func (l *layout) inspectAt() *view.Inspector { return nil }
