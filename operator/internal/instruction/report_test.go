package instruction

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeFailure(t *testing.T) {
	failure := Failure{Reason: "FromUnreachable", Error: `dial tcp: "refused"`}
	tests := map[string]struct {
		message string
		want    Failure
		found   bool
	}{
		"a termination message": {failure.Encode(), failure, true},
		"the end of a log": {
			`{"msg":"handoff","keys":1}` + "\n" +
				`{"level":"ERROR","msg":"x","reason":"FromUnreachable","error":"dial tcp: \"refused\""}` + "\n", failure, true,
		},
		"none":                    {"", Failure{}, false},
		"a panic":                 {"panic: x\n\ngoroutine 1 [running]:\n", Failure{}, false},
		"a line without a reason": {`{"msg":"handoff","keys":1}`, Failure{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			failure, found := DecodeFailure(test.message)
			if found != test.found {
				t.Errorf("found %v, want %v", found, test.found)
			}
			if diff := cmp.Diff(test.want, failure); found && diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
