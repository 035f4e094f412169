package instruction

import (
	"bytes"
	"log/slog"
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

func TestDecodeProgress(t *testing.T) {
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info(ProgressMessage, "slot", "a-0", "from", "10.0.0.1",
		"keys", 1, "bytes", 2, "totalKeys", 3, "totalBytes", 4, "copied", true, "invalidated", 5, "emptied", "OldEnded")
	want := Progress{
		Slot: "a-0", From: "10.0.0.1", Keys: 1, Bytes: 2, TotalKeys: 3, TotalBytes: 4, Copied: true, Invalidated: 5,
		Emptied: "OldEnded",
	}
	got, found := DecodeProgress(log.String())
	if diff := cmp.Diff(want, got); !found || diff != "" {
		t.Errorf("found %v, -want +got:\n%s", found, diff)
	}
	for _, line := range []string{"", "{", `{"msg":"Starting the memcached agent"}`, `{"msg":"handoff","keys":"x"}`} {
		if _, found := DecodeProgress(line); found {
			t.Errorf("%q is taken for progress", line)
		}
	}
}
