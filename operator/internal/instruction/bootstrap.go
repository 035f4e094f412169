package instruction

// Phase is what the Pod that copies the keys of other servers does. The operator writes it into the Pod's annotation
// cache.example.com/bootstrap, and the agent reads it from a downward API volume. It only goes forward.
type Phase string

// Phases.
const (
	// PhaseNone is that of a new Pod: it waits, and changes nothing.
	PhaseNone Phase = ""

	// PhaseFollow copies all keys, and each one again that changes in the other servers.
	PhaseFollow Phase = "follow"

	// PhaseCutOver ends the copy: clients may use both once the agent is ready. A key that changes in one is then removed
	// from the other. An agent that starts with it copies first.
	PhaseCutOver Phase = "cutOver"

	// PhaseMoved is PhaseCutOver once the operator has recorded that the agent was ready, so that clients may use both. An
	// agent that starts with it does not know what they changed, and removes all keys from both.
	PhaseMoved Phase = "moved"
)

// IsBefore reports whether a phase comes earlier than another one.
func (p Phase) IsBefore(other Phase) bool { return p.number() < other.number() }

func (p Phase) number() int {
	for number, phase := range []Phase{PhaseNone, PhaseFollow, PhaseCutOver, PhaseMoved} {
		if p == phase {
			return number
		}
	}
	return 0 // Another client wrote it: the agent does not follow it.
}
