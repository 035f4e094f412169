package prometheus

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAFetchedPromtoolIsUsed(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("PATH", "/usr/bin:/bin")
	want := filepath.Join(cache, "memcached-operator/bin/promtool-"+runtime.GOARCH)
	if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Path(t.Context(), Promtool); err != nil || got != want {
		t.Errorf("%s, error: %v; want %s", got, err, want)
	}
}

func TestTheErrorWithoutAptNamesIt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := Path(t.Context(), Promtool)
	if err == nil || !strings.HasPrefix(err.Error(), "promtool, of the package prometheus: ") ||
		!strings.Contains(err.Error(), "apt-get, on Debian") {
		t.Errorf("error: %v", err)
	}
}
