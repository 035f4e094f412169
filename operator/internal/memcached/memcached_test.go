package memcached

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	got := Arguments(Settings{
		ItemMemory: 100*Mebibyte + 5, Port: 11211, MaxConnections: 2048, Threads: 8, MaxItemSize: 4096,
		ExtraArguments: []string{"-f", "1.08"},
	})
	want := []string{
		"--port=11211", "--memory-limit=100", "--conn-limit=2120", "--threads=8", "--max-item-size=4096", "-f", "1.08",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestContainerMemory(t *testing.T) {
	defaults := Settings{ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads}
	base := ContainerMemory(defaults)
	tests := map[string]struct {
		change func(*Settings)
		more   int64
	}{
		"nothing changed":                        {func(*Settings) {}, 0},
		"items take their own size and 8 % more": {func(s *Settings) { s.ItemMemory += 1000 * Mebibyte }, 1080 * Mebibyte},
		"1024 connections more take 24 MiB":      {func(s *Settings) { s.MaxConnections += 1024 }, 24 * Mebibyte},
		"a thread more takes 2 MiB":              {func(s *Settings) { s.Threads++ }, 2 * Mebibyte},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings := defaults
			tc.change(&settings)
			if got := ContainerMemory(settings) - base; got != tc.more {
				t.Errorf("%d bytes more, want %d", got, tc.more)
			}
		})
	}
	if base%Mebibyte != 0 {
		t.Errorf("%d is no whole number of mebibytes", base)
	}
}
