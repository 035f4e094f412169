package bucket

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

func content(t *testing.T, b *Bucket, name string) string {
	t.Helper()
	from, err := b.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	got, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestAnObjectThatIsAddedReplacesNone(t *testing.T) {
	places(t, func(t *testing.T, b *Bucket) {
		if err := b.Add(t.Context(), "daily/manifest.json", []byte("first")); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(t.Context(), "daily/manifest.json", []byte("second")); !errors.Is(err, snapshot.ErrExists) {
			t.Errorf("added again: %v", err)
		}
		if got := content(t, b, "daily/manifest.json"); got != "first" {
			t.Errorf("it is %q", got)
		}
		if names, err := b.List(t.Context()); err != nil || len(names) != 1 {
			t.Errorf("%q, %v", names, err)
		}
		b.Remove(t.Context(), "daily/manifest.json")
		if names, err := b.List(t.Context()); err != nil || len(names) != 0 {
			t.Errorf("after it was removed: %q, %v", names, err)
		}
	})
}

func TestOfAllWhoAddAnObjectToAFolderOneDoes(t *testing.T) {
	const rounds, adders = 100, 4
	dir := t.TempDir()
	for round := range rounds {
		name := "daily/" + strconv.Itoa(round)
		var added atomic.Int64
		var adding sync.WaitGroup
		for range adders {
			b := open(t, dir) // as another process would open it
			adding.Go(func() {
				err := b.Add(t.Context(), name, []byte("content"))
				if err == nil {
					added.Add(1)
				} else if !errors.Is(err, snapshot.ErrExists) {
					t.Error(err)
				}
			})
		}
		adding.Wait()
		if added.Load() != 1 {
			t.Fatalf("%d of %d have added %s", added.Load(), adders, name)
		}
	}
}

func TestAVolumeWithoutLinksReplacesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "manifest.json")
	if err := writeNew(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, []byte("second")); !errors.Is(err, snapshot.ErrExists) {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Errorf("it is %q, %v", got, err)
	}
}

// unconditional makes a server of S3 refuse requests that have conditions.
func unconditional(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, "<Error><Code>NotImplemented</Code></Error>")
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestAServerWithoutConditionsReplacesNoObjectThatItHas(t *testing.T) {
	b := open(t, fakeS3(t, unconditional))
	if err := b.Add(t.Context(), "daily/manifest.json", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(t.Context(), "daily/manifest.json", []byte("second")); !errors.Is(err, snapshot.ErrExists) {
		t.Errorf("added again: %v", err)
	}
	if got := content(t, b, "daily/manifest.json"); got != "first" {
		t.Errorf("it is %q", got)
	}
}

func TestAnObjectIsAddedAfterAConflict(t *testing.T) {
	var conflicts atomic.Int64
	b := open(t, fakeS3(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") != "" && conflicts.Add(-1) >= 0 {
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, "<Error><Code>ConditionalRequestConflict</Code></Error>")
				return
			}
			h.ServeHTTP(w, r)
		})
	}))
	b.pause = time.Millisecond
	const often = 1000
	conflicts.Store(often)
	if err := b.Add(t.Context(), "daily/manifest.json", []byte("first")); err == nil {
		t.Error("there are conflicts, and no error")
	}
	conflicts.Store(2)
	if err := b.Add(t.Context(), "daily/manifest.json", []byte("first")); err != nil {
		t.Error(err)
	}
}

func TestOtherUsersReadNoFiles(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	write(t, b, "daily/shop-0", []byte("content"))
	if err := b.Add(t.Context(), "daily/manifest.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"daily/shop-0", "daily/manifest.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != fileMode {
			t.Errorf("%s: %s, %v", name, info.Mode(), err)
		}
	}
}

// openGoogle opens a bucket of Google Cloud Storage, on a server for tests.
func openGoogle(t *testing.T, answer http.HandlerFunc) *Bucket {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	return open(t, "gs://backups")
}

// TestAMissingRightIsNoMissingObject: the library for Google Cloud Storage reports both in the same way.
func TestAMissingRightIsNoMissingObject(t *testing.T) {
	for status, missing := range map[int]bool{http.StatusForbidden: false, http.StatusNotFound: true} {
		b := openGoogle(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, opened := b.Open(t.Context(), "daily/manifest.json")
		_, sized := b.Size(t.Context(), "daily/manifest.json")
		for _, err := range []error{opened, sized} {
			if errors.Is(err, snapshot.ErrMissing) != missing || err == nil || !missing && !strings.Contains(err.Error(), "no right") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
}
