//go:build e2e

package handoff_test

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
)

// fill stores key-0, key-1 and so on.
func fill(t testing.TB, server *memcachedtest.Server, count int) {
	t.Helper()
	fillWith(t, server, count, "of some length, as small values have")
}

// fillWith stores the same keys as fill, with values that have this ending.
func fillWith(t testing.TB, server *memcachedtest.Server, count int, ending string) {
	t.Helper()
	c := connect(t, server)
	writer := bufio.NewWriter(c.connection)
	for i := range count {
		value := fmt.Sprintf("value %d %s", i, ending)
		fmt.Fprintf(writer, "ms key-%d %d q\r\n%s\r\n", i, len(value), value)
	}
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
	c.want(t, "mn", "MN")
}

// held returns how many of the keys that the function fill stores are in a memcached.
func held(t testing.TB, server *memcachedtest.Server, count int) (found int) {
	t.Helper()
	c := connect(t, server)
	go func() {
		writer := bufio.NewWriter(c.connection)
		for i := range count {
			fmt.Fprintf(writer, "mg key-%d s q\r\n", i)
		}
		fmt.Fprint(writer, "mn\r\n")
		_ = writer.Flush()
	}()
	for {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "MN") {
			return found
		}
		found++
	}
}
