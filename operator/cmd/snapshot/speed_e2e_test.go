//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
)

// The figures of docs/snapshots.md were measured with -keys 10000000.
var (
	speedKeys = flag.Int("keys", 200_000, "keys of the cache that is saved and restored")
	speedSize = flag.Int("size", 0, "bytes of each value; small ones if it is 0")
	speedS3   = flag.Bool("s3", false, "save in a bucket of S3, in the memory of the test, instead of a folder")
)

// build builds the program, and returns its path.
func build(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "memcached-snapshot")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestManyKeysTakeLittleTimeAndMemory saves a cache of two servers, verifies the snapshot and restores it into two
// other servers.
func TestManyKeysTakeLittleTimeAndMemory(t *testing.T) {
	program, place := build(t), t.TempDir()
	if *speedS3 {
		place = s3(t)
	}
	var from, to []string
	var targets []*memcachedtest.Server
	for i := range 2 {
		limits := "--memory-limit=" + strconv.Itoa(64+*speedKeys/5000+*speedKeys/2**speedSize/700_000)
		source, target := memcachedtest.Start(t, limits), memcachedtest.Start(t, limits)
		storeMany(t, source.Address, i**speedKeys/2, *speedKeys/2)
		from = append(from, fmt.Sprintf("--server=shop-%d=%s", i, source.Address))
		to = append(to, fmt.Sprintf("--server=shop-%d=%s", i, target.Address))
		targets = append(targets, target)
	}
	everything := "--bytes-per-second=0"
	measure(t, "save", program, append(from, "save", "--to="+place, "--cache=shop", "--name=many", everything)...)
	measure(t, "verify", program, "verify", "--from="+place, "--name=many")
	measure(t, "restore", program, append(to, "restore", "--from="+place, "--name=many", everything)...)
	got := 0
	for _, target := range targets {
		got += count(t, target.Address)
	}
	if got != *speedKeys {
		t.Errorf("%d of %d keys are restored", got, *speedKeys)
	}
}

// collection matches a line of GODEBUG=gctrace=1: the sizes of the heap at the beginning and at the end of a
// collection.
var collection = regexp.MustCompile(`(?m)^gc \d+ .* (\d+)->(\d+)->\d+ MB`)

// measure runs the program, and reports its time and memory to make bench.
func measure(t *testing.T, what, program string, arguments ...string) {
	t.Helper()
	const most = 32
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Env = append(os.Environ(), "GODEBUG=gctrace=1")
	var out, log bytes.Buffer
	command.Stdout, command.Stderr = &out, &log
	began := time.Now()
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	took, peak := time.Since(began), 0
	for _, found := range collection.FindAllStringSubmatch(log.String(), -1) {
		for _, heap := range found[1:] {
			mebibytes, err := strconv.Atoi(heap)
			if err != nil {
				t.Fatal(err)
			}
			peak = max(peak, mebibytes)
		}
	}
	cpu := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	t.Log(strings.TrimSpace(out.String()))
	t.Attr(what+"-seconds", fmt.Sprint(took.Seconds()))
	t.Attr(what+"-cpu-seconds", fmt.Sprint(cpu.Seconds()))
	t.Attr(what+"-heap-mebibytes", strconv.Itoa(peak))
	if peak >= most {
		t.Errorf("the heap has %d MiB", peak)
	}
}

// storeMany stores items that are numbered: count items, from the number first on.
func storeMany(t testing.TB, address string, first, count int) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	writer := bufio.NewWriterSize(connection, 1<<16)
	for i := first; i < first+count; i++ {
		value := fmt.Sprintf(`{"id":%d,"name":"user %x","visits":%d}`, i, i*2654435761, i%97) + noise(*speedSize)
		fmt.Fprintf(writer, "ms user:%d:profile %d T%d F%d q\r\n%s\r\n", i, len(value), 86400*(i%2), i%5, value)
	}
	fmt.Fprint(writer, "mn\r\n")
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(connection).ReadString('\n'); err != nil || answer != "MN\r\n" {
		t.Fatalf("%q, %v", answer, err)
	}
}

// noise returns a text that compression does not make smaller.
func noise(size int) string {
	value := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(value)
	return string(value)
}

// count returns how many items a memcached has.
func count(t testing.TB, address string) (items int) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "stats\r\n")
	lines := bufio.NewScanner(connection)
	for lines.Scan() && lines.Text() != "END" {
		if value, ok := strings.CutPrefix(lines.Text(), "STAT curr_items "); ok {
			if items, err = strconv.Atoi(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return items
}
