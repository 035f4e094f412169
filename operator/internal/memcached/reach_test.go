package memcached

import (
	"strings"
	"testing"
)

// reaching are the options by which an argument could reach a file, a port, a user or a process.
var reaching = map[string]string{
	"unix-socket": "/run/memcached/auth", "unix-mask": "777", "auth-file": "/etc/passwd", "pidfile": "/run/pid",
	"memory-file": "/data/items", "listen": "0.0.0.0:9999", "port": "22", "udp-port": "11211", "user": "root",
	"daemon": "", "enable-ssl": "", "enable-sasl": "", "enable-shutdown": "", "enable-coredumps": "", "lock-memory": "",
	"extended": "",
}

// TestNoArgumentReachesAFileAPortOrAProcess tries all spellings that memcached understands.
func TestNoArgumentReachesAFileAPortOrAProcess(t *testing.T) {
	for name, value := range reaching {
		known, found := byName(name)
		if !found || known.name != name {
			t.Fatalf("memcached has no option --%s", name)
		}
		for _, value := range extendedOr(name, value) {
			for _, arguments := range spellings(known, value) {
				if CheckArguments(arguments) == nil {
					t.Errorf("%q is accepted", arguments)
				}
			}
		}
	}
}

// extendedOr returns the value or, for --extended, the values that reach files and ports.
func extendedOr(name, value string) []string {
	if name != "extended" {
		return []string{value}
	}
	return []string{
		"ssl_key=/etc/shadow", "ssl_chain_cert=/etc/shadow", "ssl_ca_cert=/x", "ssl_verify_mode=0", "ssl_keyformat=1",
		"ssl_ciphers=NULL", "ssl_min_version=0", "ssl_kernel_tls", "ssl_session_cache", "ssl_wbuf_size=1",
		"proxy_config=/x.lua", "proxy_arg=x", "proxy_uring", "ext_path=/data/store:1G", "ext_page_size=8", "ext_wbuf_size=8",
		"modern,ext_path=/x:1G", " ext_path=/x:1G", "sock_cookie_id=1", "a_later_option=/x",
	}
}

func spellings(known option, value string) [][]string {
	letter, name := "-"+string(known.letter), "--"+known.name
	all := [][]string{
		{letter, value}, {letter + value}, {"-v" + letter[1:] + value}, {"-vFX" + letter[1:], value}, {"-v", letter + value},
		{"-f", "1.1", letter + value}, {"word", letter, value},
	}
	if value == "" {
		return append(all, []string{name}, []string{name[:len(name)-1]}, []string{letter + "v"})
	}
	return append(all, []string{name, value}, []string{name + "=" + value}, []string{name[:len(name)-1] + "=" + value})
}

// TestEveryOptionThatTakesAPathOrAnAddressIsRefused keeps the table above complete: an option is managed, or it is
// known to be harmless.
func TestEveryOptionThatTakesAPathOrAnAddressIsRefused(t *testing.T) {
	harmless := "disable-evictions verbose slab-growth-factor slab-min-size enable-largepages max-reqs-per-event disable-cas " +
		"listen-backlog protocol disable-flush-all disable-dumping disable-watch napi-ids extended"
	for _, known := range options {
		listed := strings.Contains(" "+harmless+" ", " "+known.name+" ")
		if known.managed == "" && known.name != "" && !listed {
			t.Errorf("--%s can be set: decide what it reaches", known.name)
		}
	}
}
