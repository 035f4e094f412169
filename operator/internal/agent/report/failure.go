package report

// Reports to the operator that a handoff has failed: by the exit code of the agent, and by its termination message.

import (
	"errors"
	"fmt"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Failed is the error of a copy that failed, or whose keys were lost after the copy was complete. The agent then ends
// with instruction.ExitCode, and the operator reads the reason in the status of the Pod.
type Failed struct{ Err error }

func (f *Failed) Error() string { return fmt.Sprintf("the copy failed: %v", f.Err) }

// Unwrap returns the cause.
func (f *Failed) Unwrap() error { return f.Err }

// FailureOf returns what the operator is to learn about a Failed; false for other errors.
func FailureOf(err error) (instruction.Failure, bool) {
	var failed *Failed
	if !errors.As(err, &failed) {
		return instruction.Failure{}, false
	}
	failure := &handoff.Failure{Reason: handoff.Internal, Err: failed.Err}
	errors.As(failed.Err, &failure)
	text := failure.Text()
	if failure.NotEmptied {
		text += "; memcached could not be emptied"
	}
	return instruction.Failure{Reason: failure.Reason, Error: text}, true
}
