package clients

import (
	"fmt"
	"runtime"
	"strings"
)

// Client is a client library as one of the programs in test/clients uses it.
type Client struct {
	Name     string // of what the test prints, of its Pod and of its keys
	Program  string // its part of the image, which is its folder in test/clients
	Use      string // the file use_USE.* that connects
	Mode     Mode
	Secured  bool // by TLS, and with a login where the program takes one
	Language string
	Library  string
}

// Mode is the mode of slots that a client needs.
type Mode string

// The modes that give clients a name.
const (
	DNS       Mode = "DNS"
	ClusterIP Mode = "ClusterIP"
)

// All are the clients.
var All = []Client{
	{Name: "pymemcache", Program: "python", Use: "pymemcache", Mode: DNS},
	{Name: "django", Program: "python", Use: "django", Mode: DNS},
	{Name: "oslo", Program: "python", Use: "oslo", Mode: DNS},
	{Name: "pylibmc", Program: "python", Use: "pylibmc", Mode: DNS},
	{Name: "php-memcached", Program: "php", Use: "memcached", Mode: DNS},
	{Name: "dalli", Program: "ruby", Use: "dalli", Mode: DNS},
	{Name: "node-memcached", Program: "node", Use: "memcached", Mode: DNS},
	{Name: "memjs", Program: "node", Use: "memjs", Mode: DNS},
	{Name: "spymemcached", Program: "java", Use: "Spymemcached", Mode: ClusterIP},
}

// commands start the programs.
var commands = map[string][]string{
	"python": {"/usr/bin/python3", "python/load.py"},
	"php": {
		"/usr/bin/php8.4", "-n", "-d", "extension=igbinary", "-d", "extension=msgpack", "-d", "extension=memcached",
		"php/load.php",
	},
	"ruby": {"/usr/bin/ruby", "ruby/load.rb"},
	"node": {"/usr/bin/node", "node/load.js"},
	"java": {java(), "-cp", "/usr/share/java/spymemcached.jar", "java/Load.java"},
}

// Command starts the client's program.
func (c Client) Command() []string { return commands[c.Program] }

// Servers are the names of a cache's slots, as the client is given them.
func (c Client) Servers(namespace, cache string, size, port int) string {
	var servers []string
	for i := range size {
		domain := namespace + ".svc"
		if c.Mode == DNS {
			domain = cache + "-slots." + domain
		}
		servers = append(servers, fmt.Sprintf("%s-%d.%s:%d", cache, i, domain, port))
	}
	return strings.Join(servers, " ")
}

// java is the path of Java's launcher, which Debian links into the search path only when it installs the package.
func java() string {
	version, _, _ := strings.Cut(strings.TrimPrefix(javaPackage, "openjdk-"), "-")
	return fmt.Sprintf("/usr/lib/jvm/java-%s-openjdk-%s/bin/java", version, runtime.GOARCH)
}
