//go:build e2e

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// TestTheRightClientWorksAndNoOther runs memcached in each mode: a client with the right credentials works, and clients
// without them are refused.
func TestTheRightClientWorksAndNoOther(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir)
	const (
		secured   = "--enable-ssl --extended=ssl_chain_cert=server.crt,ssl_key=server.key"
		mutual    = secured + ",ssl_verify_mode=2,ssl_ca_cert=ca.crt"
		users     = " --auth-file=users"
		trusting  = "--tls --ca=ca.crt --server-name=cache.test"
		certified = trusting + " --cert=client.crt --key=client.key"
		login     = " --user=ann --password-file=password"

		// The error of a refused certificate depends on which side closes the connection first.
		refused = "tls: (certificate required|unknown certificate authority)|EOF|connection reset|broken pipe"
	)
	tests := map[string]struct {
		memcached, right string
		wrong            map[string]string // parts of the error of other clients, by their flags
	}{
		"plaintext": {"", "", map[string]string{"--tls": "first record does not look like a TLS handshake"}},
		"users": {users, login, map[string]string{
			"":                                 "CLIENT_ERROR unauthenticated",
			"--user=ann --password-file=wrong": "log in as ann: CLIENT_ERROR authentication failure",
		}},
		"TLS": {secured, trusting, map[string]string{
			"":                  refused,
			"--tls --ca=ca.crt": "certificate is valid for cache.test, not localhost",
			"--tls --ca=foreign.crt --server-name=cache.test": "certificate signed by unknown authority",
		}},
		"mutual TLS": {mutual, certified, map[string]string{
			trusting: refused, trusting + " --cert=foreign.crt --key=foreign.key": refused,
		}},
		"mutual TLS and users": {mutual + users, certified + login, map[string]string{
			certified:        "CLIENT_ERROR unauthenticated",
			trusting + login: refused,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(dir)
			endpoint := start(t, tc.memcached)
			result := must(t, "set --keys=3 "+endpoint+tc.right)
			if result.Stored != 3 || must(t, "get --keys=3 "+endpoint+tc.right).Found != 3 {
				t.Errorf("the right client stores %d keys", result.Stored)
			}
			for flags, want := range tc.wrong {
				if out, err := execute(t, "get --keys=3 "+endpoint+flags); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
					t.Errorf("with %q: %s, error %v, want %s", flags, out, err, want)
				}
			}
		})
	}
}

// TestKeysLieWhereTheOrderOfTheSlotsSays gives the client the addresses of two slots, and then only the first of them.
func TestKeysLieWhereTheOrderOfTheSlotsSays(t *testing.T) {
	first, second := strings.TrimSpace(start(t, "")), start(t, "")
	_, address, _ := strings.Cut(second, "=")
	must(t, "set --keys=50 "+first+","+address)
	if got := must(t, "get --keys=50 "+first+","+address); got.Found != 50 || got.Copies != 0 || len(got.Nodes) != 2 {
		t.Errorf("%+v, want all keys, each on one of two", got)
	}
	if got := must(t, "get --keys=50 "+first).Found; got == 0 || got == 50 {
		t.Errorf("one of two has %d of 50 keys", got)
	}
}

// TestAHoldingClientReportsWhatIsLost deletes the key in one case, and ends memcached in another.
func TestAHoldingClientReportsWhatIsLost(t *testing.T) {
	tests := map[string]struct {
		then, patience string // a command for memcached, and how long the client runs
		release        bool
		missed, failed bool
	}{
		"nothing, until it may end": {"version", "1h", true, false, false},
		"nothing, for a while":      {"version", "1s", false, false, false},
		"the key":                   {"delete held", "2s", false, true, false},
		"the connections":           {"shutdown", "2s", false, false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			endpoint := start(t, "--enable-shutdown")
			done := make(chan Result, 1)
			go func() { done <- must(t, "hold --connections=3 --for="+tc.patience+" "+endpoint) }()
			g.Eventually(func() string { return ask(endpoint, "get held") }).WithTimeout(2 * time.Minute).
				Should(gomega.HavePrefix("VALUE held"))
			ask(endpoint, tc.then)
			if tc.release {
				must(t, "release "+endpoint)
			}
			var got Result
			g.Eventually(done).WithTimeout(2 * time.Minute).Should(gomega.Receive(&got))
			if got.Held != 3 || got.Requests < 3 || (got.Missed > 0) != tc.missed || (got.Failed > 0) != tc.failed {
				t.Errorf("%+v, want %+v", got, tc)
			}
		})
	}
}

// start starts memcached, and returns the client's flag for it.
func start(t *testing.T, flags string) (endpoint string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(unused.Address(t))
	memcachedtest.StartAt(t, "127.0.0.1:"+port, strings.Fields(flags)...)
	return "--endpoint=localhost:" + port + " "
}

// ask sends a command to memcached without the client.
func ask(endpoint, command string) string {
	connection, err := net.Dial("tcp", strings.TrimSpace(strings.TrimPrefix(endpoint, "--endpoint=")))
	if err != nil {
		return err.Error()
	}
	defer connection.Close()
	fmt.Fprintf(connection, "%s\r\nquit\r\n", command)
	answer, _ := io.ReadAll(connection)
	return string(answer)
}

func must(t *testing.T, line string) (result Result) {
	t.Helper()
	out, err := execute(t, line)
	if err != nil {
		t.Errorf("client %s: %v", line, err)
		return result
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Errorf("client %s printed %q: %v", line, out, err)
	}
	return result
}

// writeFiles writes the certificates of memcached, of a client, and of a client that another CA signed, the file of
// users, and passwords.
func writeFiles(t *testing.T, dir string) {
	t.Helper()
	ca, strangers := certificates.NewAuthority(t, "ca"), certificates.NewAuthority(t, "stranger")
	server, client, foreign := certificates.Issue(t, ca, "cache.test"), certificates.Issue(t, ca), certificates.Issue(t, strangers)
	tree.Write(t, dir, map[string]string{
		"ca.crt": string(ca.Cert), "server.crt": string(server.Cert), "server.key": string(server.Key),
		"client.crt": string(client.Cert), "client.key": string(client.Key),
		"foreign.crt": string(foreign.Cert), "foreign.key": string(foreign.Key),
		"users": "ann:secret\n", "password": "secret", "wrong": "other",
	})
}
