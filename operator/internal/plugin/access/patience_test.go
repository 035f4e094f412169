package access

import (
	"bytes"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slow is a transport that answers after this time.
type slow time.Duration

func (s slow) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(s))
	return nil, nil
}

func TestAUserWhoWaitsIsShownForWhat(t *testing.T) {
	const line = "Waiting for the API server https://east (--request-timeout limits it)\n"
	for name, tc := range map[string]struct {
		answers, pauses time.Duration // of four requests
		want            string
	}{
		"quick answers":                             {answers: 100 * time.Millisecond},
		"slow answers, named once":                  {answers: 3 * time.Second, want: line},
		"answers that are slow together":            {answers: 600 * time.Millisecond, want: line},
		"answers with something else between them":  {answers: 600 * time.Millisecond, pauses: time.Second},
		"many quick answers with short pauses only": {answers: 450 * time.Millisecond, pauses: 90 * time.Millisecond, want: line},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				patience := patient{&Patience{Out: &out, Host: "https://east", After: 2 * time.Second}, slow(tc.answers)}
				for range 4 {
					_, _ = patience.RoundTrip(nil) //nolint:bodyclose // There is no answer.
					time.Sleep(tc.pauses)
				}
				if diff := cmp.Diff(tc.want, out.String()); diff != "" {
					t.Errorf("printed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestReadsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(*testing.T) { // The test fails if all goroutines wait.
		var all sync.WaitGroup
		all.Add(3)
		wait := func() error {
			all.Done()
			all.Wait()
			return nil
		}
		together([]read{{"Deployments", wait}, {"Pods", wait}, {"Events", wait}})
	})
}
