//go:build e2e

package agent

import (
	"crypto/tls"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
)

// announce writes the list of servers, as the kubelet does when the operator has changed the annotation.
func (p *pod) announce(t *testing.T, version int64) {
	t.Helper()
	list := discovery.List{Version: version, Endpoint: "shop.team.svc:11211", Nodes: []discovery.Node{
		{Host: "shop-0.shop-slots.team.svc", Port: 11211}, {Host: "10.0.0.1", IP: "10.0.0.1", Port: 11211},
	}}
	if err := os.WriteFile(p.options.DiscoveryFile, []byte(list.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answered is the answer that a client gets after announce(7).
const answered = "CONFIG cluster 0 60 7 shop-0.shop-slots.team.svc||11211 10.0.0.1|10.0.0.1|11211  END"

// TestDiscoveryAsksTheSameOfItsClientsAsMemcached tries a client with the right credentials, and clients with wrong
// ones, in each mode of memcached: with and without TLS, users and client certificates.
func TestDiscoveryAsksTheSameOfItsClientsAsMemcached(t *testing.T) {
	t.Parallel()
	ca := agenttest.NewCertificate(t, nil)
	certificate := agenttest.NewCertificate(t, ca)
	for name, p := range map[string]*pod{
		"plaintext":            {},
		"users":                {users: "ann:one\nbob:two"},
		"TLS":                  {certificate: certificate},
		"mutual TLS and users": {certificate: certificate, clientCA: ca, users: "ann:one\nbob:two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.discovery = true
			p.start(t)
			p.announce(t, 7)
			address, config := p.options.DiscoveryAddress, (*tls.Config)(nil)
			if p.certificate != nil {
				address, config = p.options.DiscoveryTLSAddress, trust(ca, pair(t, agenttest.NewCertificate(t, ca)))
			}
			var c *client
			wait(t).Eventually(func() (err error) { c, err = connect(t, address, config); return err }).Should(gomega.Succeed())
			if p.users != "" {
				for request, want := range map[string]string{
					"config get cluster\r\n":             "CLIENT_ERROR unauthenticated",
					"version\r\n":                        "CLIENT_ERROR unauthenticated",
					"set x 0 0 7\r\nann two\r\n":         "CLIENT_ERROR authentication failure",
					"set x 0 0 9\r\nann one b\r\n":       "CLIENT_ERROR authentication failure",
					"set x 0 0 3000\r\n" + long + "\r\n": "CLIENT_ERROR authentication failure",
				} {
					if answer, err := c.ask(request, 1); err != nil || answer != want {
						t.Errorf("%.30q is answered by %q, %v, want %q", request, answer, err, want)
					}
				}
				if answer, err := c.login("ann", "one"); err != nil || answer != "STORED" {
					t.Fatalf("login: %q, %v", answer, err)
				}
			}
			if answer, err := c.ask("config get cluster\r\n", 5); err != nil || answer != answered {
				t.Errorf("the servers are %q, %v, want %q", answer, err, answered)
			}
			if answer, err := c.ask("version\r\n", 1); err != nil || !strings.HasPrefix(answer, "VERSION 1.") {
				t.Errorf("the version is %q, %v", answer, err)
			}
			if p.clientCA != nil {
				stranger, err := connect(t, address, trust(ca))
				if err == nil {
					_, err = stranger.login("ann", "one")
				}
				if err == nil {
					t.Error("a client without a certificate is admitted")
				}
			}
		})
	}
}

var long = strings.Repeat("x", 3000)

func TestDiscoveryAnswersByteForByte(t *testing.T) {
	t.Parallel()
	p := &pod{discovery: true}
	p.start(t)
	p.announce(t, 7)
	c, err := connect(t, p.options.DiscoveryAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	const payload = "7\nshop-0.shop-slots.team.svc||11211 10.0.0.1|10.0.0.1|11211\n"
	const elsewhere = "CLIENT_ERROR this is the discovery endpoint, which has no keys: use shop.team.svc:11211\r\n"
	for _, step := range []struct{ request, want string }{
		{"config get cluster\r\n", fmt.Sprintf("CONFIG cluster 0 %d\r\n%s\r\nEND\r\n", len(payload), payload)},
		{"get AmazonElastiCache:cluster\r\n", fmt.Sprintf("VALUE AmazonElastiCache:cluster 0 %d\r\n%s\r\nEND\r\n", len(payload), payload)},
		{"get key\r\n", elsewhere},
		{"set key 0 0 18\r\nconfig get cluster\r\n", elsewhere},
		{"set key 0 0\r\n", "ERROR\r\n"},
		{"flush_all\r\n", elsewhere},
		{"\r\n", "ERROR\r\n"},
		{"config get cluster\n", fmt.Sprintf("CONFIG cluster 0 %d\r\n%s\r\nEND\r\n", len(payload), payload)},
	} {
		if _, err := fmt.Fprint(c.connection, step.request); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(step.want))
		if _, err := c.lines.Read(got); err != nil || string(got) != step.want {
			t.Fatalf("%q is answered by\n%q, %v, want\n%q", step.request, got, err, step.want)
		}
	}
	p.announce(t, 8)
	if answer, err := c.ask("config get cluster\r\n", 2); err != nil || !strings.HasSuffix(answer, " 8") {
		t.Errorf("after a change the answer is %q, %v", answer, err)
	}
}

// TestDiscoveryWaitsForTheListOfAPodThatWasJustChosen: if there is no list in time, the client gets an error that says
// so.
func TestDiscoveryWaitsForTheListOfAPodThatWasJustChosen(t *testing.T) {
	t.Parallel()
	p := &pod{discovery: true}
	p.start(t)
	early, err := connect(t, p.options.DiscoveryAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "SERVER_ERROR the list of servers has not arrived yet: ask again"
	if answer, err := early.ask("config get cluster\r\n", 1); err != nil || answer != want {
		t.Errorf("without a list the answer is %q, %v", answer, err)
	}
	answer := make(chan string, 1)
	go func() {
		text, err := early.ask("config get cluster\r\n", 5)
		answer <- fmt.Sprint(text, err)
	}()
	p.announce(t, 7)
	if got := <-answer; got != answered+"<nil>" {
		t.Errorf("the answer is %q", got)
	}
}
