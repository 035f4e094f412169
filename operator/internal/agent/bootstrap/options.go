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
	// From are the servers to copy from, as HOST:PORT. Their order and their names are the same as in the clients' list,
	// because clients hash these names. FromHash is the hash by which clients choose one of these servers.
	From     []string
	FromHash string

	// FromTLSDir is the folder where the Secret is mounted with which the certificates of these servers are verified;
	// empty means that these servers have no certificate.
	FromTLSDir string

	// FromAuthDir is the folder where the Secret with the users of these servers is mounted; empty means that they require
	// no password.
	FromAuthDir string

	// To are the servers of the slots, as HOST:PORT, in the order of the slots, and ToHash is the hash by which clients
	// will choose one of them.
	To     []string
	ToHash string

	// TLSDir is the folder where the Secret with the cache's certificate is mounted; empty means that the cache has no
	// certificate.
	TLSDir string

	// ClientCA is whether the cache requests client certificates. The CAs of the Secret must have signed them.
	ClientCA bool

	// AuthDir is the folder where the Secret with the cache's users is mounted; empty means that the cache requires no
	// password.
	AuthDir string

	// BytesPerSecond limits the copy; 0 is no limit.
	BytesPerSecond int64

	// PhaseFile is the file with the phase that the operator writes (instruction.Phase). Without it, clients may use the
	// cache as soon as all keys are copied.
	PhaseFile string

	// StateFile is written once clients may use the cache. If it exists at the start, nothing is copied. If the phase is
	// "moved", which the operator writes later, nothing is copied either.
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
		"A server to copy from, as `HOST:PORT`. Repeat it for each server, in the same order and spelling as in the "+
			"clients' list, because clients hash these names.")
	flags.StringVar(&o.FromHash, "from-hash", o.FromHash,
		"Hash by which clients choose one of these servers: "+hashes()+".")
	flags.StringVar(&o.FromTLSDir, "from-tls-dir", o.FromTLSDir,
		"Folder with the Secret by which these servers are verified: ca.crt and, for mutual TLS, tls.crt and tls.key. "+
			"Without it, the agent connects without TLS.")
	flags.StringVar(&o.FromAuthDir, "from-auth-dir", o.FromAuthDir,
		"Folder with the Secret that has a user of these servers: username and password, or users. Without it, the "+
			"agent does not log in.")
	flags.StringArrayVar(&o.To, "to", o.To,
		"The server of a slot, as `HOST:PORT`. Repeat it in the order of the slots, with the names that clients will have.")
	flags.StringVar(&o.ToHash, "to-hash", o.ToHash, "Hash by which clients will choose one of the slots.")
	flags.StringVar(&o.TLSDir, "tls-dir", o.TLSDir,
		"Folder with the Secret of the cache's certificate. Without it, the agent connects without TLS.")
	flags.BoolVar(&o.ClientCA, "client-ca", o.ClientCA,
		"The cache requires client certificates, so the Secret must have ca.crt. Used with --tls-dir.")
	flags.StringVar(&o.AuthDir, "auth-dir", o.AuthDir,
		"Folder with the Secret of the cache's users. Without it, the agent does not log in.")
	flags.Int64Var(&o.BytesPerSecond, "bytes-per-second", o.BytesPerSecond,
		"Limit of the bytes of keys and values that are copied per second, from all servers together; 0 means no limit.")
	flags.StringVar(&o.PhaseFile, "phase-file", o.PhaseFile,
		"File from a downward API volume with the phase: follow, cutOver or moved. Without it, clients may use the "+
			"cache as soon as all keys are copied.")
	flags.StringVar(&o.StateFile, "state-file", o.StateFile,
		"File in an emptyDir that the agent writes once clients may use the cache, so that a restarted container does "+
			"not copy the keys again.")
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
			return fmt.Errorf("--from %q: --to has the same server: set only servers outside of the cache", server)
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
