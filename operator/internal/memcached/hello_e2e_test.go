//go:build e2e

package memcached

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

// TestHandshakesThatNoLibraryOffersAreRefused sends the beginning of a handshake byte by byte: SSL 3.0, and ciphers that
// do not encrypt or do not authenticate. An answer with a ServerHello would accept them.
func TestHandshakesThatNoLibraryOffersAreRefused(t *testing.T) {
	g := startGuarded(t, func(*TLS) {})
	const (
		nullCipher, nullEphemeral, anonymous, anonymousRC4, export = 0x003b, 0xc006, 0xc019, 0x0018, 0x0003
		strong                                                     = tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
	)
	if !acceptsHello(t, g.address, hello(tls.VersionTLS12, strong)) {
		t.Error("the hello of the test is not understood, so a refusal proves nothing")
	}
	for name, content := range map[string][]byte{
		"SSL 3.0":                      hello(tls.VersionSSL30, strong), //nolint:staticcheck // The point is that it is refused.
		"TLS 1.0":                      hello(tls.VersionTLS10, strong),
		"TLS 1.1":                      hello(tls.VersionTLS11, strong),
		"no encryption":                hello(tls.VersionTLS12, nullCipher, nullEphemeral),
		"no authentication":            hello(tls.VersionTLS12, anonymous, anonymousRC4),
		"a cipher for export":          hello(tls.VersionTLS12, export),
		"SSL 2.0":                      {0x80, 0x1c, 0x01, 0x00, 0x02, 0x00, 0x03, 0x00, 0x00, 0x00, 0x10, 0x07, 0x00, 0xc0},
		"a hello that ends too early":  hello(tls.VersionTLS12, strong)[:40],
		"plaintext":                    []byte("get key\r\n"),
		"plaintext with a login":       fmt.Appendf(nil, "set auth 0 0 %d\r\n%s\r\n", len(rightLogin), rightLogin),
		"HTTP":                         []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		"the binary protocol's magic":  append([]byte{0x80, 0x0b}, make([]byte, 22)...),
		"an alert in place of a hello": {0x15, 3, 3, 0, 2, 1, 0},
	} {
		if acceptsHello(t, g.address, content) {
			t.Errorf("%s is accepted", name)
		}
	}
	g.admits(t, agenttest.NewCertificate(t, g.ca))
}

// acceptsHello sends bytes, and reports whether the answer is anything but an alert or an end.
func acceptsHello(t *testing.T, address string, content []byte) bool {
	t.Helper()
	connection := dial(t, address)
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(time.Second))
	_, _ = connection.Write(content)
	_ = connection.(*net.TCPConn).CloseWrite()
	answer := make([]byte, 1)
	count, _ := connection.Read(answer)
	const alert = 0x15
	return count > 0 && answer[0] != alert
}

// hello is a ClientHello with the extensions that a server needs to choose an elliptic curve and a signature.
func hello(version uint16, suites ...uint16) []byte {
	var body bytes.Buffer
	word := func(values ...uint16) {
		for _, value := range values {
			_ = binary.Write(&body, binary.BigEndian, value)
		}
	}
	word(version)
	body.Write(bytes.Repeat([]byte{7}, 32)) // its random number
	body.WriteByte(0)                       // no session
	word(uint16(2 * len(suites)))
	word(suites...)
	body.Write([]byte{1, 0}) // no compression
	word(6 + 2 + 4 + 4 + 4 + 4)
	word(10, 4, 2, 23)             // the curve P-256
	word(11, 2, 0x0100)            // its points
	word(13, 6, 4, 0x0403, 0x0804) // signatures
	message := append([]byte{1, 0, byte(body.Len() >> 8), byte(body.Len())}, body.Bytes()...)
	return append([]byte{0x16, 3, 1, byte(len(message) >> 8), byte(len(message))}, message...)
}
