// Package clienthash chooses the server of a key exactly as clients do. So the agents know which keys clients will look
// for at another server when the length of the list of servers changes. The package has no state, and no input or
// output.
package clienthash

import (
	"crypto/md5" //nolint:gosec // Clients choose servers by MD5; it protects nothing here.
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/twmb/murmur3"
)

// Algorithm is how a client chooses the server of a key. The package's tests compare each with real clients.
type Algorithm string

const (
	// Ketama is libmemcached's MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED with servers of equal weight: each server has 160 points
	// on a ring, from the MD5 of "HOST-N", or "HOST:PORT-N" if the port is not 11211, and a key belongs to the server of
	// the next point at or after the first four bytes of the key's MD5. PHP's OPT_LIBKETAMA_COMPATIBLE and pylibmc's
	// "ketama_weighted" set it.
	Ketama Algorithm = "Ketama"

	// CRC32Modulo is the CRC-32 (IEEE) of the key, modulo the number of servers. gomemcache's ServerList uses it.
	CRC32Modulo Algorithm = "CRC32Modulo"

	// JumpSorted is the jump hash (arXiv:1406.2294) of the key's XXH64, over the servers in the natural order of their
	// names. Thanos, Loki and Mimir use it.
	JumpSorted Algorithm = "JumpSorted"

	// Rendezvous is the server with the highest MurmurHash3 (x86, 32 bits, seed 0) of "HOST:PORT-KEY", or, of two servers
	// with the same hash, the one whose name is greater. pymemcache's HashClient uses it for keys that are text.
	Rendezvous Algorithm = "Rendezvous"
)

// Algorithms are all algorithms.
var Algorithms = []Algorithm{Ketama, CRC32Modulo, JumpSorted, Rendezvous}

// Chooser returns the server that clients use for a key, as its index in the list of servers.
type Chooser func(key []byte) int

// New returns the Chooser for a list of servers, as "HOST:PORT". The list must have at least one server.
func New(algorithm Algorithm, servers []string) (Chooser, error) {
	if len(servers) == 0 {
		return nil, fmt.Errorf("%s: the list of servers is empty", algorithm)
	}
	switch algorithm {
	case Ketama:
		return ketama(servers), nil
	case CRC32Modulo:
		return func(key []byte) int { return int(crc32.ChecksumIEEE(key) % uint32(len(servers))) }, nil //nolint:gosec // Few.
	case JumpSorted:
		return jumpSorted(servers), nil
	case Rendezvous:
		return rendezvous(servers), nil
	}
	return nil, fmt.Errorf("algorithm %q is unknown", algorithm)
}

// KeepsOthers reports whether all other keys stay at their servers when a server is added at the end of a list of this
// length, or is removed again. In this case, only the keys that this server gets or had move.
func KeepsOthers(algorithm Algorithm, servers int) bool {
	switch algorithm {
	case CRC32Modulo:
		return false
	case Ketama: // by rounding, libmemcached gives servers fewer points for some lengths of the list
		return ketamaPoints(servers) == ketamaPoints(servers+1)
	case JumpSorted, Rendezvous:
	}
	return true
}

// point is a point of a server on the ring.
type point struct {
	value  uint32
	server int
}

const pointsPerHash = 4

// ketamaPoints returns how many points each server has in a list of this many servers. libmemcached computes this
// number in single precision, so for some lengths of the list, a server has 156 points instead of 160.
func ketamaPoints(servers int) int {
	share := float32(1) / float32(servers)
	return int(math.Floor(float64(float32(float64(share*160/pointsPerHash*float32(servers))+1e-10)))) * pointsPerHash
}

func ketama(servers []string) Chooser {
	count := ketamaPoints(len(servers))
	ring := make([]point, 0, len(servers)*count)
	for number, server := range servers {
		for i := range count / pointsPerHash {
			digest := md5.Sum([]byte(strings.TrimSuffix(server, ":11211") + "-" + strconv.Itoa(i))) //nolint:gosec // As above.
			for part := range pointsPerHash {
				ring = append(ring, point{binary.LittleEndian.Uint32(digest[4*part:]), number})
			}
		}
	}
	slices.SortStableFunc(ring, func(x, y point) int { return compare(x.value, y.value) })
	return func(key []byte) int {
		digest := md5.Sum(key) //nolint:gosec // As above.
		i, _ := slices.BinarySearchFunc(ring, binary.LittleEndian.Uint32(digest[:]), func(p point, hash uint32) int {
			return compare(p.value, hash)
		})
		return ring[i%len(ring)].server
	}
}

func compare(x, y uint32) int { return int(int64(x) - int64(y)) }

func jumpSorted(servers []string) Chooser {
	order := make([]int, len(servers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return naturally(servers[x], servers[y]) })
	return func(key []byte) int { return order[jump(xxhash.Sum64(key), len(servers))] }
}

// jump is the function in the paper about the jump hash.
func jump(hash uint64, buckets int) int {
	bucket, next := int64(-1), int64(0)
	for next < int64(buckets) {
		bucket = next
		hash = hash*2862933555777941757 + 1
		next = int64(float64(bucket+1) * (float64(int64(1)<<31) / float64(hash>>33+1)))
	}
	return int(bucket)
}

// naturally compares names in their natural order: shop-2 is before shop-10.
func naturally(x, y string) int {
	for x != "" && y != "" {
		a, b := leading(x), leading(y)
		m, errM := strconv.Atoi(a)
		n, errN := strconv.Atoi(b)
		switch {
		case errM == nil && errN == nil && m != n:
			return m - n
		case a != b:
			return strings.Compare(a, b)
		}
		x, y = x[len(a):], y[len(b):]
	}
	return len(x) - len(y)
}

// leading returns the beginning of a text up to the first change between digits and other characters.
func leading(text string) string {
	isDigit := func(b byte) bool { return '0' <= b && b <= '9' }
	for i := range len(text) {
		if isDigit(text[i]) != isDigit(text[0]) {
			return text[:i]
		}
	}
	return text
}

func rendezvous(servers []string) Chooser {
	return func(key []byte) int {
		best, highest := 0, int64(-1)
		for i, server := range servers {
			score := int64(murmur3.Sum32([]byte(server + "-" + string(key))))
			if score > highest || score == highest && server > servers[best] {
				best, highest = i, score
			}
		}
		return best
	}
}
