package instruction

// Phase is what the Pod that copies the keys of other servers does. The operator writes it into the Pod's annotation
// cache.example.com/bootstrap, and the agent reads it from a downward API volume. The phase only goes forward.
type Phase string

// Phases.
const (
	// PhaseNone is the phase of a new Pod: the agent waits, and changes nothing.
	PhaseNone Phase = ""

	// PhaseFollow copies all keys, and copies each key again that changes in the other servers.
	PhaseFollow Phase = "follow"

	// PhaseCutOver ends the copy. Once the agent is ready, clients may use both the other servers and the cache: a key
	// that changes in one of them is then removed from the other. An agent that starts with this phase copies first.
	PhaseCutOver Phase = "cutOver"

	// PhaseMoved replaces PhaseCutOver once the operator has recorded that the agent was ready. Clients may already use
	// both the other servers and the cache then. An agent that starts with this phase does not know which keys clients
	// changed, and removes all keys from both.
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
	return 0 // Another client wrote this phase, and the agent does not follow it.
}
