package clients

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Client is a client library as one of the programs in test/clients uses it.
type Client struct {
	Name     string // of its Pod and its keys
	Program  string // its folder in test/clients
	Use      string // the name by which the program knows the library
	File     string // the source file that connects; the documentation shows it
	Mode     Mode
	Secured  string // the Memcached with TLS that it uses, in its own namespace; empty without TLS
	Recipe   string // its file in docs/recipes; with one, it uses the cache of the recipes
	Discover bool   // the client knows only the discovery endpoint, and learns the servers from it
	Language string
	Protocol string
	Chooses  string // how it chooses the server of a key
	TLS      string
	Login    string

	// PausedMisses is how many reads may miss for each replaced Pod, if no option of the library can prevent that. Such a
	// read misses because its server is one to which the library closed a connection less than a second before or, in
	// Mimir's library, to which it is closing a connection.
	PausedMisses int
}

// Mode is the mode of slots that a client needs.
type Mode string

// The mode DNS gives clients names that stay, and the mode ClusterIP gives them addresses that stay.
const (
	DNS       Mode = "DNS"
	ClusterIP Mode = "ClusterIP"
)

// Each of these caches is for some of the clients. All other clients share one more cache.
const (
	WithTLS   = "clients-tls"
	WithLogin = "clients-login" // and TLS
	OfRecipes = "clients-recipes"
	Discovers = "clients-discovery"
)

// These programs have separate images.
const (
	Go      = "gomemcache"
	Recipes = "recipes/load"
)

const (
	ketama     = "ketama of the name"
	rendezvous = "rendezvous hash of the name"
	ring       = "consistent hash of the name"
	place      = "its place in the list"
	sorted     = "its place in the sorted list"
)

// All has all clients that are tested.
var All = []Client{
	{
		Name: "pymemcache", Language: "Python", Program: "python", Use: "pymemcache", File: "use_pymemcache.py",
		Mode: DNS, Protocol: "text", Chooses: rendezvous, TLS: "yes", Login: "by a subclass",
	},
	{
		Name: "pymemcache-secured", Language: "Python", Program: "python", Use: "pymemcache_secured",
		File: "use_pymemcache_secured.py", Mode: DNS, Protocol: "text", Chooses: rendezvous, Secured: WithLogin,
		TLS: "yes", Login: "by a subclass",
	},
	{
		Name: "django", Language: "Python", Program: "python", Use: "django", File: "use_django.py",
		Mode: DNS, Protocol: "text", Chooses: rendezvous, TLS: "`OPTIONS` of pymemcache", Login: "no",
	},
	{
		Name: "oslo", Language: "Python", Program: "python", Use: "oslo", File: "use_oslo.py",
		Mode: DNS, Protocol: "text", Chooses: rendezvous, TLS: "`tls_enabled`", Login: "no",
		PausedMisses: 50,
	},
	{
		Name: "oslo-pool", Language: "Python", Program: "python", Use: "oslo_pool", File: "use_oslo_pool.py",
		Mode: DNS, Protocol: "text", Chooses: place, TLS: "no", Login: "no", PausedMisses: 2,
	},
	{
		Name: "pylibmc", Language: "Python", Program: "python", Use: "pylibmc", File: "use_pylibmc.py",
		Mode: ClusterIP, Protocol: "text", Chooses: ketama, TLS: "no", Login: "no",
	},
	{
		Name: "php-memcached", Language: "PHP", Program: "php", Use: "memcached", File: "use_memcached.php",
		Mode: ClusterIP, Protocol: "text", Chooses: ketama, TLS: "no", Login: "no",
	},
	{
		Name: "dalli", Language: "Ruby", Program: "ruby", Use: "dalli", File: "use_dalli.rb",
		Mode: DNS, Protocol: "meta", Chooses: ring, TLS: "yes", Login: "no",
	},
	{
		Name: "dalli-secured", Language: "Ruby", Program: "ruby", Use: "dalli_secured", File: "use_dalli_secured.rb",
		Mode: DNS, Protocol: "meta", Chooses: ring, Secured: WithTLS, TLS: "yes", Login: "no",
	},
	{
		Name: "node-memcached", Language: "Node.js", Program: "node", Use: "memcached", File: "use_memcached.js",
		Mode: DNS, Protocol: "text", Chooses: ketama, TLS: "no", Login: "no",
	},
	{
		Name: "memjs", Language: "Node.js", Program: "node", Use: "memjs", File: "use_memjs.js",
		Mode: DNS, Protocol: "binary", Chooses: place, TLS: "no", Login: "no",
	},
	{
		Name: "elasticache", Language: "Node.js", Program: "node", Use: "elasticache", File: "use_elasticache.js",
		Mode: DNS, Discover: true, Protocol: "text", Chooses: ketama, TLS: "no", Login: "no",
	},
	{
		Name: "spymemcached", Language: "Java", Program: "java", Use: "spymemcached", File: "UseSpymemcached.java",
		Mode: ClusterIP, Protocol: "text", Chooses: "ketama of the address", TLS: "no", Login: "no",
	},
	{
		Name: "gomemcache-follow", Language: "Go", Program: Go, Use: "follow", File: "follow.go",
		Mode: DNS, Protocol: "text", Chooses: place, TLS: "`DialContext`", Login: "`DialContext`",
	},
	{
		Name: "gomemcache-new", Language: "Go", Program: Go, Use: "new", File: "new.go",
		Mode: ClusterIP, Protocol: "text", Chooses: place, TLS: "`DialContext`", Login: "`DialContext`",
	},
	{
		Name: "gomemcache-secured", Language: "Go", Program: Go, Use: "follow", File: "secure.go",
		Mode: DNS, Protocol: "text", Chooses: place, Secured: WithLogin, TLS: "`DialContext`", Login: "`DialContext`",
	},
	{
		Name: "thanos", Language: "Go", Program: Recipes, Use: "thanos", File: "thanos.go", Recipe: "thanos.yaml",
		Mode: DNS, Protocol: "text", Chooses: sorted, TLS: "no", Login: "no",
	},
	{
		Name: "loki", Language: "Go", Program: Recipes, Use: "loki", File: "loki.go", Recipe: "loki.yaml",
		Mode: DNS, Protocol: "text", Chooses: sorted, TLS: "`tls_enabled`", Login: "no",
	},
	{
		Name: "mimir", Language: "Go", Program: Recipes, Use: "mimir", File: "mimir.go", Recipe: "mimir.yaml",
		Mode: ClusterIP, Protocol: "text", Chooses: sorted, TLS: "`tls_enabled`", Login: "no", PausedMisses: 1,
	},
}

// cache is the cache that the client uses.
func (c Client) cache() string {
	switch {
	case c.Recipe != "":
		return OfRecipes
	case c.Discover:
		return Discovers
	default:
		return c.Secured
	}
}

// Of returns the clients that use this cache. For an empty name, it returns the clients that use none of the caches
// named above.
func Of(cache string) (of []Client) {
	for _, client := range All {
		if client.cache() == cache {
			of = append(of, client)
		}
	}
	return of
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
	Go:     {"/" + Go},
	// Go names a program after the last part of its path.
	Recipes: {"/" + path.Base(Recipes)},
}

// Command starts the client's program.
func (c Client) Command() []string { return commands[c.Program] }

// Servers returns the servers with which the client is started: the names of a cache's slots, or only its discovery
// endpoint.
func (c Client) Servers(namespace, cache string, size, port int) string {
	if c.Discover {
		return fmt.Sprintf("%s-discovery.%s.svc:%d", cache, namespace, port)
	}
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
