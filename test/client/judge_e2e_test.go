//go:build e2e

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// TestAJudgingClientFindsWhatIsWrong changes keys while a judging client runs, without its knowledge.
func TestAJudgingClientFindsWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		then string // a request that any client may send
		want func(Judged) bool
	}{
		"nothing is wrong": {"version", func(r Judged) bool {
			return r.Outdated+r.Errors == 0 && r.Kept == r.Untouched && r.Writes > 20 && r.Deletions > 0
		}},
		"an older value is back":      {"set key-0 0 0 2\r\n0v", func(r Judged) bool { return r.Outdated > 0 }},
		"a key is lost":               {"delete untouched-7", func(r Judged) bool { return r.Kept == r.Untouched-1 }},
		"all connections are closed":  {"shutdown", func(r Judged) bool { return r.Errors > 0 && r.Kept == 0 }},
		"all keys are lost at a time": {"flush_all", func(r Judged) bool { return r.Kept == 0 && r.Outdated == 0 }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			endpoint := start(t, "--enable-shutdown")
			j := judging{
				options: &options{keys: 10}, slots: 1, clients: 4, writes: 100, duration: 4 * time.Second, staleBound: staleBound,
				address: func(int) string { return strings.TrimPrefix(strings.TrimSpace(endpoint), "--endpoint=") },
			}
			done := make(chan Judged, 1)
			go func() {
				result, _ := j.run(t.Context()) // The client's last reads fail if memcached has ended.
				done <- result
			}()
			g.Eventually(func() string { return ask(endpoint, "get key-0") }).WithTimeout(2 * time.Minute).
				Should(gomega.HavePrefix("VALUE key-0"))
			for end := time.Now().Add(time.Second); time.Now().Before(end); { // Clients overwrite it immediately.
				ask(endpoint, tc.then)
			}
			var got Judged
			g.Eventually(done).WithTimeout(2 * time.Minute).Should(gomega.Receive(&got))
			got.Seconds = nil
			if !tc.want(got) {
				t.Errorf("%+v", got)
			}
		})
	}
}
