// Package memcached knows what the program memcached itself wants: its arguments and its memory. It knows
// nothing of Kubernetes.
package memcached

import (
	"fmt"
	"strings"
)

// Mebibyte is the unit of memcached's -m.
const Mebibyte = int64(1) << 20

// Settings are what a node is started with.
type Settings struct {
	// ItemMemory is what the node may use for items, in bytes. memcached counts it in mebibytes.
	ItemMemory int64

	// Port is the TCP port of plaintext.
	Port int32

	// TLS encrypts what clients say; nil means that it does not.
	TLS *TLS

	// AuthFile is the file with those who may use the node; empty means everybody.
	AuthFile string

	// MaxConnections is the number of clients that may be connected at a time.
	MaxConnections int32

	// Threads is the number of worker threads.
	Threads int32

	// MaxItemSize is the size of the largest item, in bytes.
	MaxItemSize int64

	// ExtraArguments come last. CheckArguments tells which are possible.
	ExtraArguments []string
}

// TLS is encryption.
type TLS struct {
	// Port is the TCP port of TLS.
	Port int32

	// Plaintext leaves the port of plaintext open for all; otherwise it is on the loopback interface alone.
	Plaintext bool

	// Certificate, Key and ClientCA are files in PEM. Without ClientCA no client is asked for a certificate.
	Certificate, Key, ClientCA string

	// Require refuses clients without a certificate, where there is a ClientCA.
	Require bool

	// Only13 refuses TLS 1.2. What is older memcached refuses by itself.
	Only13 bool

	// Ciphers are the cipher suites of TLS 1.2, by OpenSSL's names; none leaves them to OpenSSL.
	Ciphers []string
}

// memcached's own defaults (memcached.c, settings_init, of 1.6).
const (
	DefaultItemMemory     = 64 * Mebibyte
	DefaultMaxConnections = int32(1024)
	DefaultThreads        = int32(4)
	DefaultMaxItemSize    = 1 * Mebibyte
)

// Arguments returns memcached's command line, without the program. UDP is off by default since 1.5.6.
func Arguments(s Settings) []string {
	arguments := []string{
		listen(s),
		fmt.Sprintf("--memory-limit=%d", s.ItemMemory/Mebibyte),
		fmt.Sprintf("--conn-limit=%d", s.MaxConnections+ownDescriptors(s.Threads)),
		fmt.Sprintf("--threads=%d", s.Threads),
		fmt.Sprintf("--max-item-size=%d", s.MaxItemSize),
	}
	if s.TLS != nil {
		arguments = append(arguments, "--enable-ssl", "--extended="+s.TLS.options())
	}
	if s.AuthFile != "" {
		arguments = append(arguments, "--auth-file="+s.AuthFile)
	}
	return append(arguments, s.ExtraArguments...)
}

// listen says where memcached listens. "*" is every address family that the Pod has, also in a cluster with IPv6 alone,
// as is a port without an address. With TLS, a listener is one of TLS unless it says notls (memcached.c,
// server_sockets).
func listen(s Settings) string {
	if s.TLS == nil {
		return fmt.Sprintf("--port=%d", s.Port)
	}
	plaintext := "127.0.0.1"
	if s.TLS.Plaintext {
		plaintext = "*"
	}
	return fmt.Sprintf("--listen=notls:%s:%d,*:%d", plaintext, s.Port, s.TLS.Port)
}

// options are those of memcached's --extended. A client CA has no effect without a mode of verification: the default is
// none (tls.c, ssl_init). Commas part the options, so that none may be in a value; OpenSSL parts its names by colons.
func (t *TLS) options() string {
	options := []string{"ssl_chain_cert=" + t.Certificate, "ssl_key=" + t.Key}
	if t.ClientCA != "" {
		mode := verifyRequest
		if t.Require {
			mode = verifyRequire
		}
		options = append(options, "ssl_ca_cert="+t.ClientCA, fmt.Sprintf("ssl_verify_mode=%d", mode))
	}
	if t.Only13 {
		options = append(options, fmt.Sprintf("ssl_min_version=%d", minVersion13))
	}
	if len(t.Ciphers) > 0 {
		options = append(options, "ssl_ciphers="+strings.Join(t.Ciphers, ":"))
	}
	return strings.Join(options, ",")
}

// minVersion13 is memcached's ssl_min_version for TLS 1.3. It takes the number alone (tls.c, ssl_set_min_version).
const minVersion13 = 3

// Values of memcached's ssl_verify_mode: to ask for a certificate and check the one that is given, or to refuse to go
// on without one.
const (
	verifyRequest = 1
	verifyRequire = 2
)

// ownDescriptors is how many descriptors memcached itself needs, which its --conn-limit counts too: some for each
// worker thread (an eventfd, an epoll instance, pipes), and some for listeners, the log and standard streams, rounded
// up. Measured on 1.6.18 with 1 to 64 threads. Three are for the agent.
func ownDescriptors(threads int32) int32 {
	return 5*threads + 32 + 3
}

// ItemChunk is what memcached keeps large items in: half a slab page. The size of the largest item must be a multiple
// of it, or memcached ends at once (memcached.c, main).
const ItemChunk = Mebibyte / 2

// LargestItem is the most that MaxItemSize may be: memcached ends at once if an item could fill more than half of
// its memory (memcached.c, main).
func LargestItem(itemMemory int64) int64 {
	return itemMemory / 2
}
