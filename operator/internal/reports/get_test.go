package reports

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

func TestWhatAnAgentAnswersIsNotTrusted(t *testing.T) {
	const curve = `{"observedSeconds":60,"reads":5,"hitRatio":0.5,"curve":[%s]}`
	tests := map[string]struct {
		status       int
		answer       string
		want         usage.Report
		errorHas     string
		isRedirected bool
		query        string
	}{
		"a report": {
			answer: fmt.Sprintf(curve, `{"ageSeconds":1,"memory":5,"hitRatio":0.5},{"ageSeconds":2,"memory":6,"hitRatio":1}`),
			want: usage.Report{Observed: 60, Reads: 5, HitRatio: 0.5, Curve: []usage.Point{
				{Age: 1, Memory: 5, HitRatio: 0.5}, {Age: 2, Memory: 6, HitRatio: 1},
			}},
		},
		"no curve is needed": {
			answer: `{"connections":7,"latencyMicroseconds":50,"recentReads":9,"recentHitRatio":0.5}`, query: "?curve=false",
			want: usage.Report{Connections: 7, Latency: 50, RecentReads: 9, RecentHitRatio: 0.5},
		},
		"no connections, but less than that": {answer: `{"connections":-1}`, errorHas: "impossible values"},
		"a latency before all times":         {answer: `{"latencyMicroseconds":-1}`, errorHas: "impossible values"},
		"a recent ratio below 0":             {answer: `{"recentHitRatio":-0.1}`, errorHas: "impossible values"},
		"an agent of a former release":       {status: http.StatusNotFound, answer: "404 page not found", errorHas: "restart the Pods"},
		"memcached does not answer":          {status: http.StatusServiceUnavailable, answer: "memcached has ended", errorHas: "memcached has ended"},
		"it leads elsewhere":                 {isRedirected: true, errorHas: "302"},
		"it is something else":               {answer: "<html>", errorHas: "answer is no report"},
		"it does not end":                    {answer: `{"reads":` + strings.Repeat("1", mostBytes+1), errorHas: "answer is no report"},
		"a ratio above 1":                    {answer: `{"hitRatio":1.1}`, errorHas: "impossible values"},
		"a time before all times":            {answer: `{"observedSeconds":-1}`, errorHas: "impossible values"},
		"an age that falls":                  {answer: fmt.Sprintf(curve, `{"ageSeconds":2},{"ageSeconds":1}`), errorHas: "does not rise"},
		"a memory that falls":                {answer: fmt.Sprintf(curve, `{"memory":2},{"memory":1}`), errorHas: "does not rise"},
		"more memory than any computer has":  {answer: fmt.Sprintf(curve, `{"memory":1125899906842625}`), errorHas: "impossible values"},
		"a curve with too many points":       {answer: fmt.Sprintf(curve, strings.Repeat("{},", 512)+"{}"), errorHas: "impossible values"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.String() != "http://[fd00::1]:9151/usage"+test.query:
					t.Errorf("requested %s", r.URL)
				case test.isRedirected:
					http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
				case test.status != 0:
					http.Error(w, test.answer, test.status)
				default:
					fmt.Fprint(w, test.answer)
				}
			}))
			defer agent.Close()
			get, err := OverHTTP(agent.URL)
			if err != nil {
				t.Fatal(err)
			}
			got, err := get(t.Context(), &corev1.Pod{Status: corev1.PodStatus{PodIP: "fd00::1"}}, name != "no curve is needed")
			if test.errorHas == "" {
				if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
					t.Errorf("error %v (-want +got):\n%s", err, diff)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.errorHas) {
				t.Errorf("error %v, want %s", err, test.errorHas)
			}
		})
	}
}

func TestAProxyIsAURL(t *testing.T) {
	for _, proxy := range []string{"127.0.0.1:3128", "http://", "\x00"} {
		if _, err := OverHTTP(proxy); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:3128") {
			t.Errorf("%q: %v", proxy, err)
		}
	}
}
