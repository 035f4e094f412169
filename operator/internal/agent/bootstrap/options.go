package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/clienthash"
)

// Options are the options of `agent bootstrap`.
type Options struct {
	// From are the servers to copy from, as HOST:PORT, in the order and with the names of clients, which hash these
	// names. FromHash is how clients place keys on these servers.
	From     []string
	FromHash string

	// FromTLSDir is where the Secret is mounted with which these servers are verified; empty means that they have no
	// certificate.
	FromTLSDir string

	// FromAuthDir is where the Secret with their users is mounted; empty means that they require no password.
	FromAuthDir string

	// To are the servers of the slots, as HOST:PORT, in the order of the slots, and ToHash is how clients will place keys
	// on them.
	To     []string
	ToHash string

	// TLSDir is where the Secret of the cache's certificate is mounted; empty means that it has none.
	TLSDir string

	// ClientCA: the cache requests client certificates, signed by the CAs of the Secret.
	ClientCA bool

	// AuthDir is where the Secret with the cache's users is mounted; empty means that it requires no password.
	AuthDir string

	// BytesPerSecond limits the copy; 0 is no limit.
	BytesPerSecond int64

	// PhaseFile is the file with the phase of the operator (instruction.Phase). Without it, clients may use the cache
	// as soon as all keys are copied.
	PhaseFile string

	// StateFile is written once clients may use the cache. If it exists at the start, nothing is copied. The phase
	// moved, which the operator writes later, has the same effect.
	StateFile string

	// MetricsAddress is the address of the metrics; "0" turns them off.
	MetricsAddress string

	// ProbeAddress is the address of /healthz, /started and /ready; "0" turns them off.
	ProbeAddress string

	// Restarts is how often the supervisor restarted the program.
	Restarts int
}

// NewOptions returns the defaults.
func NewOptions() *Options { return &Options{MetricsAddress: ":9150", ProbeAddress: ":9151"} }

// AddFlags adds the flags of the options.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.From, "from", o.From,
		"A server to copy from, as `HOST:PORT`. Repeat it in the order and spelling of the clients: they are hashed.")
	flags.StringVar(&o.FromHash, "from-hash", o.FromHash,
		"How clients place keys on these servers: "+hashes()+".")
	flags.StringVar(&o.FromTLSDir, "from-tls-dir", o.FromTLSDir,
		"Folder with the Secret by which these servers are verified: ca.crt, and for mutual TLS tls.crt and tls.key. "+
			"Without it, no TLS.")
	flags.StringVar(&o.FromAuthDir, "from-auth-dir", o.FromAuthDir,
		"Folder with the Secret of a user of these servers: username and password, or users. Without it, no login.")
	flags.StringArrayVar(&o.To, "to", o.To,
		"The server of a slot, as `HOST:PORT`. Repeat it in the order of the slots, with the names that clients will have.")
	flags.StringVar(&o.ToHash, "to-hash", o.ToHash, "How clients will place keys on the slots.")
	flags.StringVar(&o.TLSDir, "tls-dir", o.TLSDir,
		"Folder with the Secret of the cache's certificate. Without it, no TLS.")
	flags.BoolVar(&o.ClientCA, "client-ca", o.ClientCA,
		"The cache requires client certificates, so the Secret must have ca.crt. Used with --tls-dir.")
	flags.StringVar(&o.AuthDir, "auth-dir", o.AuthDir,
		"Folder with the Secret of the cache's users. Without it, no login.")
	flags.Int64Var(&o.BytesPerSecond, "bytes-per-second", o.BytesPerSecond,
		"Limit of the copy, from all servers together; 0 is none.")
	flags.StringVar(&o.PhaseFile, "phase-file", o.PhaseFile,
		"File from a downward API volume with follow, cutOver or moved. Without it, it cuts over as soon as all is copied.")
	flags.StringVar(&o.StateFile, "state-file", o.StateFile,
		"File in an emptyDir, written once clients may use the cache: a restarted container then does not copy again.")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "Address of /metrics; 0 turns it off.")
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress,
		"Address of /healthz, /started and /ready; 0 turns them off.")
}

// Validate checks the options.
func (o *Options) Validate() error {
	for _, list := range []struct {
		flag, hash string
		servers    []string
	}{{"--from", o.FromHash, o.From}, {"--to", o.ToHash, o.To}} {
		if err := validateServers(list.flag, list.servers); err != nil {
			return err
		}
		if _, err := clienthash.New(clienthash.Algorithm(list.hash), list.servers); err != nil {
			return fmt.Errorf("%s-hash %q: set one of %s", list.flag, list.hash, hashes())
		}
	}
	for _, server := range o.From {
		if slices.Contains(o.To, server) {
			return fmt.Errorf("--from %q: it is one of --to, too: set the servers outside of the cache", server)
		}
	}
	for _, file := range []struct{ flag, path string }{{"--phase-file", o.PhaseFile}, {"--state-file", o.StateFile}} {
		if file.path != "" && !filepath.IsAbs(file.path) {
			return fmt.Errorf("%s %q: set an absolute path such as /run/bootstrap/file", file.flag, file.path)
		}
	}
	if o.BytesPerSecond < 0 {
		return fmt.Errorf("--bytes-per-second %d: set 0 for no limit, or a positive number", o.BytesPerSecond)
	}
	if o.ClientCA && o.TLSDir == "" {
		return errors.New("--client-ca needs --tls-dir")
	}
	return nil
}

func validateServers(flag string, servers []string) error {
	if len(servers) == 0 {
		return fmt.Errorf("%s is missing: set it once for each server, such as %s=10.0.0.1:11211", flag, flag)
	}
	for i, server := range servers {
		host, port, err := net.SplitHostPort(server)
		number, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || portErr != nil || host == "" || number == 0 {
			return fmt.Errorf("%s %q: set HOST:PORT, such as 10.0.0.1:11211", flag, server)
		}
		if slices.Contains(servers[:i], server) {
			return fmt.Errorf("%s %q is set twice: set each server once", flag, server)
		}
	}
	return nil
}

func hashes() string {
	var all []string
	for _, algorithm := range clienthash.Algorithms {
		all = append(all, string(algorithm))
	}
	return strings.Join(all, ", ")
}
