package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAHeldConnectionIsNeverReplaced runs a server that closes the connection once the key is stored.
func TestAHeldConnectionIsNeverReplaced(t *testing.T) {
	var connections atomic.Int32
	endpoint := "localhost:" + port(t, func(connection net.Conn) {
		connections.Add(1)
		lines := bufio.NewReader(connection)
		_, _ = lines.ReadString('\n') // gets held
		fmt.Fprint(connection, "END\r\n")
		_, _ = lines.ReadString('\n') // set held
		_, _ = lines.ReadString('\n') // its value
		fmt.Fprint(connection, "STORED\r\n")
	})
	out, err := execute(t, "hold --connections=1 --every=1ms --for=100ms --endpoint="+endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	last := got.Failures[len(got.Failures)-1]
	if got.Failed < 2 || got.Failed != got.Requests || !strings.HasSuffix(last, errClosed.Error()) || connections.Load() != 1 {
		t.Errorf("%d connections, %s", connections.Load(), out)
	}
}
