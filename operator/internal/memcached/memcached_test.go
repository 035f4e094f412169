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
		"nothing changed": {func(*Settings) {}, 0},
		"items take themselves, 1 % and the hash table":  {func(s *Settings) { s.ItemMemory = 1024 * Mebibyte }, (960 + 10 + 90) * Mebibyte},
		"1024 connections more take 100 MiB":             {func(s *Settings) { s.MaxConnections += 1024 }, 100 * Mebibyte},
		"two threads more take 1 MiB":                    {func(s *Settings) { s.Threads += 2 }, Mebibyte},
		"larger items take none: they lie in the memory": {func(s *Settings) { s.MaxItemSize = 32 * Mebibyte }, 0},
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

func TestHashTable(t *testing.T) {
	tests := map[string]struct{ itemMemory, want int64 }{
		"it begins with 65536 buckets":             {16 * Mebibyte, 3 * Mebibyte / 2},
		"it stays up to 1.5 items a bucket":        {144 * Mebibyte, 12 * Mebibyte},
		"it doubles with one item more than that":  {144*Mebibyte + smallestItem, 24 * Mebibyte},
		"it is in proportion: 2^n takes 3/32 more": {1 << 40, 3 << 35},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hashTable(tc.itemMemory); got != tc.want {
				t.Errorf("hashTable(%d) = %d, want %d", tc.itemMemory, got, tc.want)
			}
		})
	}
}
