// Package memcached knows the program memcached: its arguments and its memory. It knows nothing about Kubernetes.
package memcached

// Memcached's arguments, from its settings.

import (
	"fmt"
	"strconv"
	"strings"
)

// Mebibyte is the unit of memcached's -m.
const Mebibyte = int64(1) << 20

// Settings are memcached's settings.
type Settings struct {
	// ItemMemory is the memory for items, in bytes. memcached counts it in mebibytes.
	ItemMemory int64

	// FormerMemory is the largest memory for items that this memcached had, in bytes, if that was more than ItemMemory. It
	// counts because the hash table does not shrink.
	FormerMemory int64

	// Port is the TCP port without TLS.
	Port int32

	// TLS encrypts connections; nil means no TLS.
	TLS *TLS

	// AuthFile is the file with the users; empty means no authentication.
	AuthFile string

	// MaxConnections is the number of concurrent client connections.
	MaxConnections int32

	// Threads is the number of worker threads.
	Threads int32

	// MaxItemSize is the size of the largest item, in bytes.
	MaxItemSize int64

	// Handoff: the agent reads the log of changes, to copy the keys to another Pod.
	Handoff bool

	// ExtraArguments come last. CheckArguments rejects invalid ones.
	ExtraArguments []string
}

// TLS holds the TLS settings.
type TLS struct {
	// Port is the TCP port with TLS.
	Port int32

	// Plaintext leaves the plaintext port open for all; otherwise it listens on the loopback interface only.
	Plaintext bool

	// Certificate, Key and ClientCA are PEM files. Without ClientCA, no client certificates are requested.
	Certificate, Key, ClientCA string

	// Require rejects clients without a certificate, if there is a ClientCA.
	Require bool

	// Only13 rejects TLS 1.2. Memcached itself rejects older versions.
	Only13 bool

	// Ciphers are the cipher suites of TLS 1.2, by their OpenSSL names; none means OpenSSL's default.
	Ciphers []string
}

// memcached's own defaults (memcached.c, settings_init, of 1.6).
const (
	DefaultItemMemory     = 64 * Mebibyte
	DefaultMaxConnections = int32(1024)
	DefaultThreads        = int32(4)
	DefaultMaxItemSize    = 1 * Mebibyte
)

// MostThreads is the largest number of threads with which memcached starts without a warning (memcached.c, main, of
// 1.6).
const MostThreads = 64

// memoryLimit is the option for the memory for items.
const memoryLimit = "--memory-limit="

// ItemMemoryOf returns the memory for items in memcached's arguments, in bytes; 0 if they do not set it.
func ItemMemoryOf(arguments []string) int64 {
	for _, argument := range arguments {
		if value, found := strings.CutPrefix(argument, memoryLimit); found {
			mebibytes, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return 0
			}
			return mebibytes * Mebibyte
		}
	}
	return 0
}

// Arguments returns memcached's arguments. UDP is off by default since 1.5.6.
func Arguments(s Settings) []string {
	arguments := []string{
		listen(s),
		memoryLimit + strconv.FormatInt(s.ItemMemory/Mebibyte, 10),
		fmt.Sprintf("--conn-limit=%d", s.MaxConnections+s.agentsConnections()+ownDescriptors(s.Threads)),
		fmt.Sprintf("--threads=%d", s.Threads),
		fmt.Sprintf("--max-item-size=%d", s.MaxItemSize),
	}
	if s.TLS != nil {
		arguments = append(arguments, "--enable-ssl", "--extended="+s.TLS.options())
	}
	if s.AuthFile != "" {
		arguments = append(arguments, "--auth-file="+s.AuthFile)
	}
	if s.Handoff {
		arguments = append(arguments, fmt.Sprintf("--extended=worker_logbuf_size=%d,watcher_logbuf_size=%d",
			workerLogBuffer>>10, watcherLogBuffer>>10))
	}
	return append(arguments, s.ExtraArguments...)
}

// listen returns the addresses on which memcached listens. "*" and a port without an address both mean every address
// family of the Pod, including in a cluster with IPv6 only. With TLS, every listener uses TLS unless it has the prefix
// notls (memcached.c, server_sockets).
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

// options returns the values of memcached's --extended. A client CA has no effect without a verify mode: the default is
// none (tls.c, ssl_init). Commas separate the options, so no value may contain one; OpenSSL separates the names of
// ciphers with colons.
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

// minVersion13 is memcached's ssl_min_version for TLS 1.3. memcached accepts only the number (tls.c,
// ssl_set_min_version).
const minVersion13 = 3

// Values of memcached's ssl_verify_mode: request a certificate and verify it if one is presented, or reject clients
// without one.
const (
	verifyRequest = 1
	verifyRequire = 2
)

// ownDescriptors is how many descriptors memcached itself needs, which its --conn-limit includes: several for each
// worker thread (an eventfd, an epoll instance, pipes), and some for listeners, the log and standard streams, rounded
// up. The numbers were measured with memcached 1.6.18 and 1 to 64 threads. Three of the descriptors are for the agent.
func ownDescriptors(threads int32) int32 {
	return 5*threads + 32 + 3
}

// handoffConnections is how many connections to this memcached the agents of this Pod and of other Pods open for a
// handoff.
const handoffConnections = 16

// agentsConnections is how many connections agents open beyond the few that ownDescriptors includes.
func (s Settings) agentsConnections() int32 {
	if s.Handoff {
		return handoffConnections
	}
	return 0
}

// ItemChunk is the chunk in which memcached stores large items: half a slab page. The maximum item size must be a
// multiple of it, or memcached exits immediately (memcached.c, main).
const ItemChunk = Mebibyte / 2

// LargestItem is the maximum of MaxItemSize: memcached exits immediately if an item could fill more than half of its
// memory (memcached.c, main).
func LargestItem(itemMemory int64) int64 {
	return itemMemory / 2
}
