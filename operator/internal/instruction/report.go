package instruction

import (
	"encoding/json"
	"strings"
)

// The agent has no credentials, so it reports through what Kubernetes keeps of its container: the log, the exit code,
// the termination message and the readiness.

// ExitCode is the exit code of an agent whose copy failed before all keys were copied. Its memcached is empty, unless
// the message says otherwise.
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

// DecodeFailure reads a termination message, or the end of a log where the agent could not write one: the last line
// counts. It returns false for a message of another kind, such as that of a panic.
func DecodeFailure(message string) (Failure, bool) {
	var f Failure
	lines := strings.Split(strings.TrimSpace(message), "\n")
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &f)
	return f, err == nil && f.Reason != ""
}

// ProgressMessage is the message of the log lines with the progress.
const ProgressMessage = "handoff"

// Progress is how far a copy is: a line of the agent's log, every 2 seconds while it copies, once all is copied, and
// once at the end.
type Progress struct {
	// Slot and From are those of the instruction.
	Slot string `json:"slot"`
	From string `json:"from"`

	// Keys and Bytes are copied; TotalKeys and TotalBytes are what the former holder had when the copy began. Bytes are
	// those of keys and values.
	Keys       int64 `json:"keys"`
	Bytes      int64 `json:"bytes"`
	TotalKeys  int64 `json:"totalKeys"`
	TotalBytes int64 `json:"totalBytes"`

	// Copied is true once all keys are copied.
	Copied bool `json:"copied"`

	// Invalidated is how many keys were removed on either side, because clients changed them on the other one.
	Invalidated int64 `json:"invalidated"`

	// Emptied is why the new memcached lost the keys after all were copied: a reason like that of a Failure. Empty if it
	// did not.
	Emptied string `json:"emptied,omitempty"`
}

// DecodeProgress reads a line of the log. It returns false for every other line.
func DecodeProgress(line string) (Progress, bool) {
	var p struct {
		Msg string `json:"msg"`
		Progress
	}
	err := json.Unmarshal([]byte(line), &p)
	return p.Progress, err == nil && p.Msg == ProgressMessage
}
