//go:build e2e

package handoff_test

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
)

// TestADumpWithTheEndOfADumpInAKey checks that a key which contains the line at the end of a dump does not end the
// dump. Clients with the binary protocol may use any bytes in keys.
func TestADumpWithTheEndOfADumpInAKey(t *testing.T) {
	const keys = 3000
	old, next := start(t), start(t)
	fill(t, old, keys)
	odd := []string{"a\r\nEN\r\n", "b\r\nEND\r\n", "c\r\nkey=d exp=-1\r\n", "e mg f\n", "%41"}
	for _, key := range odd {
		storeBinary(t, old, key, "value")
	}
	r := run(t, dial(old), dial(next))
	r.copy(t)
	if got := held(t, next, keys); got != keys {
		t.Errorf("%d of %d keys", got, keys)
	}
	if got := r.Progress(); got.Keys != keys+int64(len(odd)) || got.Skipped != 0 {
		t.Errorf("progress %+v", got)
	}
	r.finish(t, old)
}

// storeBinary stores a key with memcached's binary protocol.
func storeBinary(t *testing.T, server *memcachedtest.Server, key, value string) {
	t.Helper()
	const header, extras = 24, 8
	request := make([]byte, header+extras, header+extras+len(key)+len(value))
	request[0], request[1], request[4] = 0x80, 0x01, extras
	binary.BigEndian.PutUint16(request[2:], uint16(len(key)))
	binary.BigEndian.PutUint32(request[8:], uint32(extras+len(key)+len(value)))
	request = append(append(request, key...), value...)
	connection := connect(t, server).connection
	if _, err := connection.Write(request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, header)
	if _, err := io.ReadFull(connection, answer); err != nil {
		t.Fatal(err)
	}
	if status := binary.BigEndian.Uint16(answer[6:]); status != 0 {
		t.Fatalf("%q: status %d", key, status)
	}
}
