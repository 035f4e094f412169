//go:build e2e

package memcached

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/test/pressure"
)

// TestTheMemoryLimitOfAContainerSuffices runs memcached as in a container. The load reaches all limits of memcached at
// the same time.
func TestTheMemoryLimitOfAContainerSuffices(t *testing.T) {
	tests := map[string]struct {
		change func(*Settings)
		tls    bool
	}{
		"the defaults":            {func(*Settings) {}, false},
		"the defaults by TLS":     {func(*Settings) {}, true},
		"the least of everything": {func(s *Settings) { s.ItemMemory, s.MaxConnections, s.Threads = 16*Mebibyte, 16, 1 }, false},
		"the most slab classes, and a hash table that has just grown": {func(s *Settings) {
			s.ItemMemory, s.ExtraArguments = 150*Mebibyte, []string{"--slab-growth-factor=1.08"}
		}, false},
		"many threads":            {func(s *Settings) { s.Threads = 32 }, false},
		"many connections":        {func(s *Settings) { s.MaxConnections = 4000 }, false},
		"many connections by TLS": {func(s *Settings) { s.MaxConnections = 2000 }, true},
		"large items":             {func(s *Settings) { s.ItemMemory, s.MaxItemSize = 128*Mebibyte, 32*Mebibyte }, false},
		"much memory":             {func(s *Settings) { s.ItemMemory = 1024 * Mebibyte }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings := changed(t, tc.change)
			bear(t, settings, tc.tls)
		})
	}
}

// TestAnOrdinaryLoadNeedsWhatIsReserved lets clients use a full memcached as applications do.
func TestAnOrdinaryLoadNeedsWhatIsReserved(t *testing.T) {
	tests := map[string]struct {
		change func(*Settings)
		tls    bool
	}{
		"the defaults":        {func(*Settings) {}, false},
		"the defaults by TLS": {func(*Settings) {}, true},
		"many connections":    {func(s *Settings) { s.MaxConnections = 4000 }, false},
		"more memory":         {func(s *Settings) { s.ItemMemory = 256 * Mebibyte }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings := changed(t, tc.change)
			group, load := started(t, &settings, tc.tls)
			evictions, err := load.Use(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			peak, err := group.Peak()
			if err != nil {
				t.Fatal(err)
			}
			reserved := OrdinaryMemory(settings)
			t.Logf("reserved %d MiB, peak %d MiB, %s evictions", reserved/Mebibyte, peak/Mebibyte, evictions)
			if peak > reserved || evictions == "0" {
				t.Errorf("of %d bytes that are reserved, %d were needed, with %s evictions", reserved, peak, evictions)
			}
		})
	}
}

// changed returns the default settings with a change. If time is short, it skips tests that fill much memory, each of
// which takes most of a minute.
func changed(t *testing.T, change func(*Settings)) Settings {
	t.Helper()
	settings := defaultSettings()
	change(&settings)
	if settings.ItemMemory > 150*Mebibyte {
		soak.Only(t, "the same with less memory")
	}
	return settings
}

func defaultSettings() Settings {
	return Settings{
		ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections,
		Threads: DefaultThreads, MaxItemSize: DefaultMaxItemSize,
	}
}

func bear(t *testing.T, settings Settings, byTLS bool) {
	t.Helper()
	group, load := started(t, &settings, byTLS)
	slabClasses, err := load.Bear(t.Context())
	if err != nil {
		t.Error(err)
	}
	figures, err := group.Judge()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s, %d slab classes", figures, slabClasses)
}

// started starts memcached in a group with the limit of its container.
func started(t *testing.T, settings *Settings, byTLS bool) (pressure.Group, pressure.Load) {
	t.Helper()
	load := pressure.Load{
		ItemMemory: settings.ItemMemory, Connections: int(settings.MaxConnections), MaxItemSize: settings.MaxItemSize,
	}
	if byTLS {
		load.TLS = secure(t, settings)
	}
	group, err := pressure.NewGroup(fmt.Sprintf("memcached-memory-%d", os.Getpid()), ContainerMemory(*settings))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	})
	load.Address = startBy(t, group.Command, settings)
	_ = dial(t, load.Address).Close()
	return group, load
}

// secure changes the settings to TLS, and returns the configuration of a client.
func secure(t *testing.T, settings *Settings) *tls.Config {
	t.Helper()
	authority, err := pki.NewAuthority("memcached")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(pki.Identity{Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	settings.TLS = &TLS{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	for file, content := range map[string][]byte{settings.TLS.Certificate: pair.Cert, settings.TLS.Key: pair.Key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &tls.Config{InsecureSkipVerify: true} // Any certificate will do in this test.
}
