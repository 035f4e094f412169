package clienthash

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// names returns the servers with which the files in testdata were made.
func names(algorithm Algorithm, count int, port string) []string {
	var servers []string
	for n := range count {
		host := fmt.Sprintf("shop-%d.shop-slots.team.svc", n)
		if algorithm == JumpSorted || algorithm == CRC32Modulo { // For these hashes, only the order of the servers counts.
			host = fmt.Sprintf("10.0.0.%d", n)
		}
		servers = append(servers, host+":"+port)
	}
	return servers
}

// TestRealClientsChooseTheSameServers compares each Chooser with the servers that real clients chose for 10,000 keys.
// The programs in test/clients/owners write the files in testdata, whose names are ALGORITHM-SERVERS-PORT.txt.
func TestRealClientsChooseTheSameServers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
			count, err := strconv.Atoi(parts[1])
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			owners := strings.ReplaceAll(string(content), "\n", "")
			choose, err := New(Algorithm(parts[0]), names(Algorithm(parts[0]), count, parts[2]))
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for n := range owners {
				if digits[choose(fmt.Appendf(nil, "user:%d:profile", n))] != owners[n] {
					wrong++
				}
			}
			if wrong > 0 || len(owners) != 10000 {
				t.Errorf("%d of %d keys are at another server", wrong, len(owners))
			}
		})
	}
}

func TestAServerMoreMovesOnlyTheKeysThatItGets(t *testing.T) {
	for _, algorithm := range []Algorithm{Ketama, CRC32Modulo, JumpSorted, Rendezvous} {
		for count := 1; count < 30; count++ {
			before, err := New(algorithm, names(algorithm, count, "11211"))
			if err != nil {
				t.Fatal(err)
			}
			after, err := New(algorithm, names(algorithm, count+1, "11211"))
			if err != nil {
				t.Fatal(err)
			}
			kept := true
			for n := range 2000 {
				key := fmt.Appendf(nil, "key-%d", n)
				if from, to := before(key), after(key); from != to && to != count {
					kept = false
				}
			}
			if want := KeepsOthers(algorithm, count); kept != want && count > 1 {
				t.Errorf("%s from %d to %d: the others keep their keys: %v, want %v", algorithm, count, count+1, kept, want)
			}
		}
	}
}

func TestAListWithoutServersAndAnUnknownAlgorithmAreErrors(t *testing.T) {
	if _, err := New(Ketama, nil); err == nil {
		t.Error("no error for an empty list")
	}
	if _, err := New("Modula", []string{"a:1"}); err == nil {
		t.Error("no error for an unknown algorithm")
	}
}

func FuzzEveryKeyHasAServer(f *testing.F) {
	f.Add([]byte("key"), uint8(5))
	f.Add([]byte{0xff, 0}, uint8(25))
	f.Fuzz(func(t *testing.T, key []byte, count uint8) {
		for _, algorithm := range []Algorithm{Ketama, CRC32Modulo, JumpSorted, Rendezvous} {
			choose, err := New(algorithm, names(algorithm, int(count)+1, "11211"))
			if err != nil {
				t.Fatal(err)
			}
			if server := choose(key); server < 0 || server > int(count) {
				t.Errorf("%s: server %d of %d", algorithm, server, int(count)+1)
			}
		}
	})
}
