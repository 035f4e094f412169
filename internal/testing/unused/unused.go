// Package unused finds addresses on which nothing listens, for programs that tests start.
package unused

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
)

var count atomic.Int64

// Address returns an address of the loopback interface on which nothing listens. On Linux, each address has another IP
// address. So no other test takes the address before a program listens there, and no outgoing connection uses it.
func Address(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		number, process := count.Add(1), os.Getpid()
		port := 10000 + (97*process+int(number))%20000 // differs, for users of the port alone; no connection gets it
		return fmt.Sprintf("127.%d.%d.%d:%d", 1+process>>8%254, process&0xff, 1+number%254, port)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
