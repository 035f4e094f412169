package agent

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
)

// Options are the agent's options.
type Options struct {
	// MemcachedAddress is the loopback address of memcached's plaintext port.
	MemcachedAddress string

	// MemcachedTLSAddress is the loopback address of memcached's TLS port.
	MemcachedTLSAddress string

	// AuthDir is the folder where the Secret with the users is mounted; empty means that memcached requires no password.
	AuthDir string

	// AuthFile is memcached's authentication file, which the agent writes.
	AuthFile string

	// TLSDir is the folder where the Secret with the certificate is mounted; empty means that memcached has no
	// certificate.
	TLSDir string

	// ClientCA is whether memcached requests client certificates. The CAs of the Secret must have signed them.
	ClientCA bool

	// Interval is the time between two reads of AuthDir, and of TLSDir.
	Interval time.Duration

	// SlabClasses is whether the agent exports the metrics of each slab class, instead of totals.
	SlabClasses bool

	// MetricsAddress is the address of the metrics; "0" turns them off.
	MetricsAddress string

	// ProbeAddress is the address of /healthz, /started and /ready; "0" turns them off.
	ProbeAddress string

	// HandoffFile is the file with the operator's instruction for a Pod with a slot; empty without slots.
	HandoffFile string

	// HandoffTimeout is how long a copy may take. It is also the longest time for which a terminating Pod continues to
	// serve its slot while no other Pod has it.
	HandoffTimeout time.Duration

	// TerminationDelay is how long a terminating Pod continues to serve after another Pod has its slot.
	TerminationDelay time.Duration

	// DiscoveryFile is the file with the list of servers for clients with auto discovery; empty without discovery.
	DiscoveryFile string

	// DiscoveryAddress and DiscoveryTLSAddress are the addresses at which the agent answers clients with auto discovery;
	// "0" disables an address. DiscoveryTLSAddress needs TLSDir.
	DiscoveryAddress    string
	DiscoveryTLSAddress string

	// RequireClientCertificate is whether clients with auto discovery are refused if they use TLS without a certificate.
	// TLS13 is whether they are refused if they use a version of TLS before 1.3. Memcached refuses the same clients.
	RequireClientCertificate bool
	TLS13                    bool

	// Proc is the folder with the processes, /proc. In tests, this folder has only one process.
	Proc string

	// Restarts is how often the supervisor restarted the agent.
	Restarts int
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		MemcachedAddress:    "127.0.0.1:11211",
		MemcachedTLSAddress: "127.0.0.1:11212",
		Interval:            2 * time.Second,
		MetricsAddress:      ":9150",
		ProbeAddress:        ":9151",
		DiscoveryAddress:    ":9152",
		DiscoveryTLSAddress: ":9153",
		Proc:                "/proc",
	}
}

// AddFlags adds the flags of the options.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.MemcachedAddress, "memcached-address", o.MemcachedAddress,
		"Loopback address of memcached's plaintext port.")
	flags.StringVar(&o.MemcachedTLSAddress, "memcached-tls-address", o.MemcachedTLSAddress,
		"Loopback address of memcached's TLS port. Used with --tls-dir.")
	flags.StringVar(&o.AuthDir, "auth-dir", o.AuthDir,
		"Folder where the Secret with the users is mounted. "+
			"Without it, the agent assumes that memcached requires no password.")
	flags.StringVar(&o.AuthFile, "auth-file", o.AuthFile,
		"Memcached's authentication file, which the agent writes. Required with --auth-dir.")
	flags.BoolVar(&o.ClientCA, "client-ca", o.ClientCA,
		"Memcached requires client certificates, so the Secret must have ca.crt. Used with --tls-dir.")
	flags.StringVar(&o.TLSDir, "tls-dir", o.TLSDir,
		"Folder where the Secret with memcached's certificate is mounted. Without it, the agent assumes that memcached "+
			"has no certificate.")
	flags.DurationVar(&o.Interval, "interval", o.Interval, "How often the folders are read.")
	flags.StringVar(&o.Proc, "proc", o.Proc, "Folder in which memcached's process is visible.")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress,
		"Address of /metrics; 0 turns it off.")
	flags.BoolVar(&o.SlabClasses, "slab-classes", o.SlabClasses,
		"Serve the metrics of each slab class, with the label slab. "+
			"Without this flag, one series has the total of all classes.")
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress,
		"Address of /healthz, /started and, with --handoff-file, /ready and the preStop hooks; 0 turns them off.")
	flags.StringVar(&o.HandoffFile, "handoff-file", o.HandoffFile,
		"File with the operator's instruction for the Pod's slot, from a downward API volume. Without it, the agent "+
			"hands over no keys.")
	flags.StringVar(&o.DiscoveryFile, "discovery-file", o.DiscoveryFile,
		"File with the servers of the cache, from a downward API volume. Without it, the agent answers no clients with "+
			"auto discovery.")
	flags.StringVar(&o.DiscoveryAddress, "discovery-bind-address", o.DiscoveryAddress,
		"Address for clients with auto discovery, without TLS; 0 turns it off. Used with --discovery-file.")
	flags.StringVar(&o.DiscoveryTLSAddress, "discovery-tls-bind-address", o.DiscoveryTLSAddress,
		"Address for clients with auto discovery, with TLS; 0 disables it. Used with --discovery-file and --tls-dir.")
	flags.BoolVar(&o.RequireClientCertificate, "discovery-require-client-certificate", o.RequireClientCertificate,
		"Refuse clients with auto discovery whose certificate was not signed by a CA of ca.crt. Used with --client-ca.")
	flags.BoolVar(&o.TLS13, "discovery-tls13", o.TLS13, "Refuse clients with auto discovery that use a version of "+
		"TLS before 1.3.")
	flags.DurationVar(&o.HandoffTimeout, "handoff-timeout", o.HandoffTimeout,
		"How long a copy may take, and how long a terminating Pod serves its slot while no other Pod has it. Used with "+
			"--handoff-file.")
	flags.DurationVar(&o.TerminationDelay, "termination-delay", o.TerminationDelay,
		"How long a terminating Pod continues to serve clients after another Pod has its slot. Used with --handoff-file.")
}

// certificate returns memcached's certificate; nil if it has none.
func (o *Options) certificate() *mounted.Certificate {
	if o.TLSDir == "" {
		return nil
	}
	return &mounted.Certificate{Dir: o.TLSDir, ClientCA: o.ClientCA}
}

// Validate checks the options. Passwords are sent to memcached in plaintext, so they must not leave the Pod.
func (o *Options) Validate() error {
	if (o.AuthDir == "") != (o.AuthFile == "") {
		return errors.New("--auth-dir and --auth-file require each other: set both or neither")
	}
	if o.Interval <= 0 {
		return fmt.Errorf("--interval %s: set a time such as 2s", o.Interval)
	}
	if o.HandoffFile != "" && !filepath.IsAbs(o.HandoffFile) {
		return fmt.Errorf("--handoff-file %q: set an absolute path such as /run/handoff/handoff", o.HandoffFile)
	}
	if o.RequireClientCertificate && !o.ClientCA {
		return errors.New("--discovery-require-client-certificate needs --client-ca")
	}
	if o.HandoffTimeout < 0 || o.TerminationDelay < 0 {
		return fmt.Errorf("--handoff-timeout %s, --termination-delay %s: set no negative time",
			o.HandoffTimeout, o.TerminationDelay)
	}
	if err := loopback("--memcached-address", o.MemcachedAddress); err != nil || o.TLSDir == "" {
		return err
	}
	return loopback("--memcached-tls-address", o.MemcachedTLSAddress)
}

func loopback(flag, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("%s %q: set a loopback address such as 127.0.0.1:11211", flag, address)
	}
	return nil
}
