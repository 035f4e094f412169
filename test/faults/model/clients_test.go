package model

import (
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestAReadReturnsWhatWasStoredLast(t *testing.T) {
	access := func(operation, value, err string) history.Access {
		return history.Access{Server: "10.0.0.1:11211", Key: "key", Operation: operation, Value: value, Error: err}
	}
	tests := map[string]struct {
		accesses []history.Access
		broken   bool
	}{
		"the value that was stored": {[]history.Access{access("set", "1", ""), access("get", "1", "")}, false},
		"nothing":                   {[]history.Access{access("set", "1", ""), access("get", "", "")}, false},
		"an overwritten value": {[]history.Access{
			access("set", "1", ""), access("set", "2", ""), access("get", "1", ""),
		}, true},
		"a value after a miss": {[]history.Access{
			access("set", "1", ""), access("get", "", ""), access("set", "2", ""), access("get", "1", ""),
		}, true},
		"a value without an answer, which arrived late": {[]history.Access{
			access("set", "1", "timeout"), access("set", "2", ""), access("get", "1", ""),
		}, false},
		"a value that nobody stored": {[]history.Access{access("get", "1", "")}, true},
		"a read that failed":         {[]history.Access{access("get", "1", "EOF")}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := &history.History{}
			for _, a := range tc.accesses {
				h.Entries = append(h.Entries, history.Entry{Access: &a})
			}
			if got := Check(h, clientRules()); (len(got) > 0) != tc.broken {
				t.Errorf("violations %v, want some: %t", got, tc.broken)
			}
		})
	}
}
