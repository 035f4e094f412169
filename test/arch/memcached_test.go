//go:build e2e

package arch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// memcachedID is the user ID of memcached in the official image, and in the image of this project.
const memcachedID = 11211

// TestKeysGoThroughAMemcachedOfEachArchitecture makes an image of memcached for all platforms. For each platform, it
// runs the image that a Node of this platform gets, and stores and reads keys.
func TestKeysGoThroughAMemcachedOfEachArchitecture(t *testing.T) {
	tests := map[string]struct {
		suite     string
		platforms []v1.Platform
	}{
		"of the machine's own suite":       {"", oci.Platforms()},
		"of a suite that is new for slots": {debian.SuiteForSlots, oci.Platforms()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			index, version, err := oci.Memcached(t.Context(), tc.suite, tc.platforms...)
			if err != nil {
				t.Fatal(err)
			}
			ref, err := oci.Push(t.Context(), index, host+"/memcached:"+version)
			if err != nil {
				t.Fatal(err)
			}
			for _, platform := range tc.platforms {
				t.Run(version+" on "+platform.String(), func(t *testing.T) { serve(t, ref, version, platform) })
			}
		})
	}
}

// serve runs memcached from the image of a platform, and sends requests to it.
func serve(t *testing.T, ref, version string, platform v1.Platform) {
	image := pull(t, ref, platform)
	logSize(t, image)
	address := start(t, unpack(t, image))
	client := memcache.New(address)
	client.Timeout = 10 * time.Second
	defer client.Close()
	g := gomega.NewWithT(t)
	g.Eventually(client.Ping, 2*time.Minute, 50*time.Millisecond).Should(gomega.Succeed())
	exchange(t, client)
	if got := versionOf(t, address); got != version {
		t.Errorf("it says that it is %q, the tag is %q", got, version)
	}
}

// start starts memcached, and returns its address. memcached ends with the test.
func start(t *testing.T, m machine) string {
	t.Helper()
	address := unused.Address(t)
	ip, port, _ := net.SplitHostPort(address)
	var log bytes.Buffer
	command := m.command(t.Context(), m.programs()[0], memcachedID, "-l", ip, "-p", port, "-m", "8", "-t", "2")
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		var killed *exec.ExitError
		if err := command.Wait(); !errors.As(err, &killed) {
			t.Errorf("it had ended by itself: %v", err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return address
}

func versionOf(t *testing.T, address string) string {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "version\r\n")
	answer, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(answer, "VERSION "))
}

// exchange stores keys and reads them, increments a number, and deletes it.
func exchange(t *testing.T, client *memcache.Client) {
	t.Helper()
	want := map[string]string{}
	for i := range 200 {
		key := fmt.Sprintf("key-%d", i)
		want[key] = strings.Repeat(key, 1+i*7)
		item := &memcache.Item{Key: key, Value: []byte(want[key]), Flags: uint32(i) << 20}
		if err := client.Set(item); err != nil {
			t.Fatalf("set %s: %v", key, err)
		}
	}
	got := map[string]string{}
	for key := range want {
		item, err := client.Get(key)
		if err != nil {
			t.Fatalf("get %s: %v", key, err)
		}
		if number, _ := strconv.Atoi(strings.TrimPrefix(key, "key-")); item.Flags != uint32(number)<<20 {
			t.Errorf("%s has the flags %x", key, item.Flags)
		}
		got[key] = string(item.Value)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	count(t, client)
}

func count(t *testing.T, client *memcache.Client) {
	t.Helper()
	if err := client.Set(&memcache.Item{Key: "count", Value: []byte("4294967295")}); err != nil {
		t.Fatal(err)
	}
	if value, err := client.Increment("count", 2); err != nil || value != 4294967297 {
		t.Errorf("4294967295 + 2 = %d, error %v", value, err)
	}
	if err := client.Delete("count"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := client.Get("count"); !errors.Is(err, memcache.ErrCacheMiss) {
		t.Errorf("a deleted key: %v", err)
	}
}
