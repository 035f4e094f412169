package reporting

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnAgentAnswersOnlyWhereTheDocumentationHasItReport(t *testing.T) {
	agents, err := Start(func(_ context.Context, address string) (string, bool) {
		return "used by " + address, address != "10.0.0.9"
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(agents.Stop)
	through, err := url.Parse(agents.URL())
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, address := range []string{
		"http://10.0.0.1:9151/usage", "http://[fd00::1]:9151/usage?curve=false",
		"http://10.0.0.9:9151/usage", "http://10.0.0.1:9150/usage", "http://10.0.0.1:9151/",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&http.Transport{Proxy: http.ProxyURL(through), DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if answers[address] = string(content); response.StatusCode != http.StatusOK {
			answers[address] = response.Status
		}
	}
	const none = "503 Service Unavailable"
	want := map[string]string{
		"http://10.0.0.1:9151/usage": "used by 10.0.0.1", "http://[fd00::1]:9151/usage?curve=false": "used by fd00::1",
		"http://10.0.0.9:9151/usage": none, "http://10.0.0.1:9150/usage": none, "http://10.0.0.1:9151/": none,
	}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if agents.Reads() != 5 {
		t.Errorf("%d requests, want 5", agents.Reads())
	}
}

func TestWhatIsReportedFollowsFromTheMemory(t *testing.T) {
	read := func(use Use, mebibytes int64) report {
		found := report{}
		if err := json.Unmarshal([]byte(use.Report(mebibytes*mebibyte)), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	tests := map[string]struct {
		use        Use
		mebibytes  int64
		evictedAge int64
		curve      int
		longest    point
	}{
		"half of what an hour needs": {Use{96, day}, 48, 1800, 11, point{43200, 1152 << 20, 0.991}},
		"what an hour needs":         {Use{96, day}, 96, 3600, 11, point{43200, 1152 << 20, 0.991}},
		"observed for an hour":       {Use{96, 3600}, 48, 1800, 6, point{1800, 48 << 20, 0.818}},
		"observed for a minute":      {Use{96, 60}, 48, 1800, 0, point{}},
		"memory for days":            {Use{1, day}, 1024, day, 11, point{43200, 12 << 20, 0.991}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			found := read(tc.use, tc.mebibytes)
			if found.EvictedAge != tc.evictedAge || found.Evicting != (tc.evictedAge < day) || len(found.Curve) != tc.curve {
				t.Errorf("evicted after %d s of %t, and %d points", found.EvictedAge, found.Evicting, len(found.Curve))
			}
			last := point{}
			for _, p := range found.Curve {
				if p.Age <= last.Age || p.Memory <= last.Memory || p.HitRatio < last.HitRatio {
					t.Errorf("the curve does not rise from %v to %v", last, p)
				}
				last = p
			}
			if diff := cmp.Diff(tc.longest, last); diff != "" {
				t.Errorf("the last point (-want +got):\n%s", diff)
			}
		})
	}
}

const day = 24 * hour
