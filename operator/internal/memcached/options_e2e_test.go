//go:build e2e

package memcached

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

// values are values for the extended options that need one.
var values = map[string]string{
	"hashpower": "17", "hash_algorithm": "xxh3", "slab_sizes": "100-200-500000", "slab_automove_ratio": "0.5",
	"slab_automove_window": "30", "slab_automove_freeratio": "0.02", "lru_crawler_sleep": "10", "lru_crawler_tocrawl": "5",
	"temporary_ttl": "30", "tail_repair_time": "60", "hot_lru_pct": "10", "warm_lru_pct": "10", "hot_max_factor": "0.5",
	"warm_max_factor": "1.5", "watcher_logbuf_size": "64", "worker_logbuf_size": "64", "read_buf_mem_limit": "32",
	"idle_timeout": "600",
}

func TestARealMemcachedStartsWithEveryExtendedOptionThatIsAllowed(t *testing.T) {
	for name := range extended {
		t.Run(name, func(t *testing.T) {
			option := name
			if value, needed := values[name]; needed {
				option += "=" + value
			}
			arguments := []string{"-o", option}
			if err := CheckArguments(arguments); err != nil {
				t.Fatal(err)
			}
			startAndAsk(t, Settings{
				ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads,
				MaxItemSize: DefaultMaxItemSize, ExtraArguments: arguments,
			})
		})
	}
}

// suites are the cipher suites of the API, with OpenSSL's names.
func suites(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("../../config/crd/bases/cache.example.com_memcacheds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(content), "cipherSuites:")
	_, list, _ = strings.Cut(list, "enum:")
	list, _, _ = strings.Cut(list, "type:")
	var suites []string
	if err := yaml.Unmarshal([]byte(list), &suites); err != nil || len(suites) == 0 {
		t.Fatalf("cipher suites of the CRD: %v", err)
	}
	return suites
}

// ofGo has Go's constants for cipher suites, by OpenSSL's names. Go does not have the suites with CBC and SHA384.
var ofGo = map[string]uint16{
	"ECDHE-ECDSA-AES128-GCM-SHA256": tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-ECDSA-AES256-GCM-SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-ECDSA-CHACHA20-POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-ECDSA-AES128-SHA256":     tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
	"ECDHE-ECDSA-AES128-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
	"ECDHE-ECDSA-AES256-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
}

func TestARealMemcachedTakesEachCipherSuiteAndNoOther(t *testing.T) {
	for _, suite := range suites(t) {
		t.Run(suite, func(t *testing.T) {
			address := startTLS(t, func(s *TLS) { s.Ciphers = []string{suite} })
			if err := shake(address, tls.VersionTLS13, nil); err != nil {
				t.Errorf("by TLS 1.3: %v", err)
			}
			for other, id := range ofGo {
				if err := shake(address, tls.VersionTLS12, []uint16{id}); (err == nil) != (other == suite) {
					t.Errorf("a client with %s alone: %v", other, err)
				}
			}
		})
	}
}

func TestARealMemcachedKeepsToTheLowestVersionOfTLS(t *testing.T) {
	got := map[string][]bool{}
	for name, change := range map[string]func(*TLS){
		"the default":   func(*TLS) {},
		"TLS 1.3 alone": func(s *TLS) { s.Only13 = true },
	} {
		address := startTLS(t, change)
		for _, version := range []uint16{tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13} {
			got[name] = append(got[name], shake(address, version, nil) == nil)
		}
	}
	want := map[string][]bool{"the default": {false, true, true}, "TLS 1.3 alone": {false, false, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("TLS 1.1, 1.2 and 1.3 (-want +got):\n%s", diff)
	}
}

// startTLS starts memcached with a certificate of an ECDSA key.
func startTLS(t *testing.T, change func(*TLS)) (address string) {
	t.Helper()
	certificate := agenttest.NewCertificate(t, nil)
	dir, err := os.MkdirTemp("", "memcached-tls-") // Another user can't read t.TempDir().
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range certificate.Secret() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	settings := Settings{
		ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads,
		MaxItemSize: DefaultMaxItemSize,
		TLS:         &TLS{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")},
	}
	change(settings.TLS)
	address = start(t, &settings)
	_ = dial(t, address).Close()
	return address
}

// shake connects with one version of TLS, and the cipher suites of a client.
func shake(address string, version uint16, suites []uint16) error {
	connection, err := tls.Dial("tcp", address, &tls.Config{
		InsecureSkipVerify: true, MinVersion: version, MaxVersion: version, CipherSuites: suites, //nolint:gosec // a test
	})
	if err != nil {
		return err
	}
	return connection.Close()
}
