package mounted_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
)

func TestReadTakesWhatIsThere(t *testing.T) {
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, "username"), []byte("ann"), 0o600); err != nil {
		t.Fatal(err)
	}
	kubelets := t.TempDir()
	agenttest.Mount(t, kubelets, map[string]string{"username": "bob", "other": "x"})
	for dir, want := range map[string]string{plain: "ann", kubelets: "bob"} {
		got, err := mounted.Read(dir, "username", "password")
		if diff := cmp.Diff(map[string][]byte{"username": []byte(want)}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestReadNeedsTheFolder(t *testing.T) {
	if _, err := mounted.Read(filepath.Join(t.TempDir(), "missing"), "username"); err == nil {
		t.Error("a folder that is not there is read")
	}
}

// TestReadNeverMixesVersions reads while the Secret changes as fast as it can.
func TestReadNeverMixesVersions(t *testing.T) {
	dir := t.TempDir()
	agenttest.Mount(t, dir, map[string]string{"a": "0", "b": "0"})
	var writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				text := string(rune('0' + i%10))
				agenttest.Mount(t, dir, map[string]string{"a": text, "b": text})
			}
		}
	})
	whole := 0
	for range 5000 {
		got, err := mounted.Read(dir, "a", "b")
		if err != nil {
			continue // the files changed too fast, and Read returned an error that says so
		}
		whole++
		if len(got) != 2 || string(got["a"]) != string(got["b"]) {
			t.Errorf("two versions in one: %q", got)
			break
		}
	}
	close(done)
	writer.Wait()
	if whole == 0 {
		t.Error("never read as a whole")
	}
}
