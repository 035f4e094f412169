package instruction

import (
	"encoding/json"
	"strings"
)

// The agent has no credentials, so it reports through the parts of its container's state that Kubernetes keeps: the
// log, the exit code, the termination message and the readiness.

// ExitCode is the exit code of an agent whose copy failed, or whose copied keys were lost before its predecessor ended.
// Its memcached was emptied, unless the message says otherwise.
const ExitCode = 3

// Failure is why a copy failed: the termination message of the agent's container and the last line of its log.
type Failure struct {
	// Reason is a word in CamelCase, such as FromUnreachable.
	Reason string `json:"reason"`

	// Error is a sentence for people.
	Error string `json:"error"`
}

// Encode returns the JSON for the termination message.
func (f Failure) Encode() string {
	content, _ := json.Marshal(f) // strings can always be encoded
	return string(content)
}

// DecodeFailure reads a termination message, or the end of the log if the agent could not write a message: the last
// line counts. It returns false for a message of another kind, such as that of a panic.
func DecodeFailure(message string) (Failure, bool) {
	var f Failure
	lines := strings.Split(strings.TrimSpace(message), "\n")
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &f)
	return f, err == nil && f.Reason != ""
}
