package recipes

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/go-kit/log"
	dskit "github.com/grafana/dskit/cache"
	loki "github.com/grafana/loki/v3/pkg/storage/chunk/cache"
	"github.com/grafana/loki/v3/pkg/util/jumphash"
	"github.com/prometheus/client_golang/prometheus"
	thanos "github.com/thanos-io/thanos/pkg/cacheutil"
	yamlv2 "gopkg.in/yaml.v2"
)

const (
	folder  = "../../../docs/recipes/"
	choices = "../../../operator/clienthash/testdata/"
)

// anywhere replaces the addresses of slots, because their names can be resolved only in a cluster. Nothing connects to
// it.
const anywhere = "127.0.0.1:11211"

func TestThanosReadsItsFile(t *testing.T) {
	var file struct {
		Type   string
		Config any
	}
	if err := yamlv2.UnmarshalStrict(read(t, "thanos.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	content, err := yamlv2.Marshal(file.Config)
	if err != nil {
		t.Fatal(err)
	}
	var config thanos.MemcachedClientConfig
	if err := yamlv2.UnmarshalStrict(content, &config); err != nil {
		t.Fatal(err)
	}
	if file.Type != "MEMCACHED" || len(config.Addresses) != 3 {
		t.Errorf("the file has the type %s and the addresses %q", file.Type, config.Addresses)
	}
	for _, address := range config.Addresses {
		content = bytes.ReplaceAll(content, []byte(address), []byte(anywhere))
	}
	client, err := thanos.NewMemcachedClient(log.NewNopLogger(), "recipe", content, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	client.Stop()
}

func TestLokiReadsItsFile(t *testing.T) {
	var config loki.Config
	if err := Decode(read(t, "loki.yaml"), &config, "chunk_store_config", "chunk_cache_config"); err != nil {
		t.Fatal(err)
	}
	if !loki.IsMemcacheSet(config) || !config.MemcacheClient.ConsistentHash {
		t.Errorf("Loki would not use the cache by a consistent hash: %+v", config.MemcacheClient)
	}
	if addresses := strings.Split(config.MemcacheClient.Addresses, ","); len(addresses) != 3 {
		t.Errorf("the file has the addresses %q", addresses)
	}
}

func TestMimirReadsItsFile(t *testing.T) {
	var file dskit.BackendConfig
	file.Memcached.MaxAsyncConcurrency = 1 // Mimir sets it by the defaults of its flags.
	if err := Decode(read(t, "mimir.yaml"), &file, "blocks_storage", "bucket_store", "index_cache"); err != nil {
		t.Fatal(err)
	}
	if err := file.Validate(); err != nil || file.Backend != "memcached" || len(file.Memcached.Addresses) != 3 {
		t.Errorf("%v: %+v", err, file)
	}
	file.Memcached.Addresses = []string{anywhere}
	client, err := dskit.NewMemcachedClientWithConfig(log.NewNopLogger(), "recipe", file.Memcached, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	client.Stop()
}

// selector is how a client chooses a server.
type selector interface {
	SetServers(servers ...string) error
	PickServer(key string) (net.Addr, error)
}

// TestTheClientsChooseByTheirHash compares the server that each client chooses for a key with the one that the operator
// expects for this hash.
func TestTheClientsChooseByTheirHash(t *testing.T) {
	for name, client := range map[string]struct {
		hash   string
		choose selector
	}{
		"loki":       {"JumpSorted", jumphash.DefaultSelector("recipe")},
		"mimir":      {"JumpSorted", &dskit.MemcachedJumpHashSelector{}},
		"thanos":     {"JumpSorted", &thanos.MemcachedJumpHashSelector{}},
		"gomemcache": {"CRC32Modulo", &memcache.ServerList{}},
	} {
		files, err := filepath.Glob(choices + client.hash + "-*.txt")
		if err != nil || len(files) < 3 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		for _, file := range files {
			t.Run(name+" "+filepath.Base(file), func(t *testing.T) { compare(t, client.choose, file) })
		}
	}
}

const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// compare compares the choices with a file named HASH-SERVERS-PORT.txt, which has a digit for each key: the index of
// its server.
func compare(t *testing.T, choose selector, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(content), "\n", "")
	parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
	count, err := strconv.Atoi(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var servers []string
	for n := range count {
		servers = append(servers, fmt.Sprintf("10.0.0.%d:%s", n, parts[2]))
	}
	if err := choose.SetServers(servers...); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for n := range want {
		server, err := choose.PickServer(fmt.Sprintf("user:%d:profile", n))
		if err != nil {
			t.Fatal(err)
		}
		if digits[slices.Index(servers, server.String())] != want[n] {
			wrong++
		}
	}
	if wrong > 0 || len(want) != 10000 {
		t.Errorf("%d of %d keys are at another server", wrong, len(want))
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(folder + file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
