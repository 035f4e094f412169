package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func line(verb, resource, subresource string, code int) string {
	return fmt.Sprintf(`{"verb":%q,"objectRef":{"resource":%q,"subresource":%q},"responseStatus":{"code":%d}}`+"\n",
		verb, resource, subresource, code)
}

func TestOnlyCompleteLinesAfterTheOffsetAreRead(t *testing.T) {
	log := Log{Path: filepath.Join(t.TempDir(), "audit.log")}
	if requests, end, err := log.Read(0); len(requests) != 0 || end != 0 || err != nil {
		t.Errorf("Read() of no file = %v, %d, %v", requests, end, err)
	}
	first, status := line("patch", "services", "", 201), line("patch", "memcacheds", "status", 200)
	tests := map[string]struct {
		content string
		offset  int
		want    []string
	}{
		"all":                              {first + status, 0, []string{"patch services 201", "patch memcacheds/status 200"}},
		"from an offset":                   {first + status, len(first), []string{"patch memcacheds/status 200"}},
		"a line that is half written":      {first + status[:20], 0, []string{"patch services 201"}},
		"an offset in the midst of a line": {first + status, 20, []string{"patch memcacheds/status 200"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(log.Path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			requests, _, err := log.Read(int64(tc.offset))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, request := range requests {
				got = append(got, request.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAwaitChecksEachRequestOnce(t *testing.T) {
	log := Log{Path: filepath.Join(t.TempDir(), "audit.log")}
	file, err := os.Create(log.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var checked []string
	done := make(chan error)
	go func() {
		done <- log.Await(t.Context(), 0, 2*time.Minute, func(r Request) bool {
			checked = append(checked, r.Verb)
			return r.Verb == "delete"
		})
	}()
	for _, verb := range []string{"create", "patch", "delete"} {
		if _, err := file.WriteString(line(verb, "services", "", 200)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * interval)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create", "patch", "delete"}, checked); diff != "" {
		t.Errorf("requests that were checked (-want +got):\n%s", diff)
	}
	if err := log.Await(t.Context(), 0, 2*interval, func(Request) bool { return false }); err == nil {
		t.Error("Await() succeeds although no request meets the condition")
	}
}
