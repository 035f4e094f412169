package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFlagsThatNeedOthers(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"no port":                    {"--endpoint=cache", `--endpoint "cache": want host:port`},
		"a slot without port":        {"--endpoint=a:1,b", `--endpoint "b": want host:port`},
		"a certificate without key":  {"--endpoint=c:1 --tls --cert=c", "--cert and --key must be set together"},
		"a user without password":    {"--endpoint=c:1 --user=u", "--user and --password-file must be set together"},
		"a password without user":    {"--endpoint=c:1 --password-file=p", "--user and --password-file must be set together"},
		"a CA without TLS":           {"--endpoint=c:1 --ca=c", "--server-name, --ca and --cert need --tls"},
		"a server name without TLS":  {"--endpoint=c:1 --server-name=c", "--server-name, --ca and --cert need --tls"},
		"a certificate without TLS":  {"--endpoint=c:1 --cert=c --key=k", "--server-name, --ca and --cert need --tls"},
		"a CA that is no CA":         {"--endpoint=localhost:1 --tls --ca=/dev/null", "--ca /dev/null holds no certificate"},
		"a password that is missing": {"--endpoint=localhost:" + port(t, silent) + " --user=u --password-file=/no/file", "/no/file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := execute(t, "get "+tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestALoginIsTheFirstThingOnAConnection(t *testing.T) {
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got string
	endpoint := "localhost:" + port(t, func(connection net.Conn) {
		lines := bufio.NewReader(connection)
		for range 2 {
			line, _ := lines.ReadString('\n')
			got += line
		}
		fmt.Fprint(connection, "CLIENT_ERROR authentication failure\r\n")
	})
	_, err := execute(t, "set --endpoint="+endpoint+" --user=ann --password-file="+password)
	if err == nil || !strings.HasSuffix(err.Error(), "log in as ann: CLIENT_ERROR authentication failure") {
		t.Errorf("error %v", err)
	}
	if want := "set login 0 0 10\r\nann secret\r\n"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestALoginIsNotWaitedForForever(t *testing.T) {
	_, err := execute(t, "set --endpoint=localhost:"+port(t, silent)+" --user=ann --password-file=/dev/null --timeout=2s")
	if err == nil || !strings.Contains(err.Error(), "i/o timeout") {
		t.Errorf("error %v", err)
	}
}

// silent reads all requests, and answers none.
func silent(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) }

// port starts a server that calls speak for each connection, and returns its port.
func port(t *testing.T, speak func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				speak(connection)
			}()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// execute runs the client with a command line, and returns what it printed.
func execute(t *testing.T, line string) (string, error) {
	t.Helper()
	var out strings.Builder
	cmd := command()
	cmd.SetArgs(strings.Fields(line))
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}
