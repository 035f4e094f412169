package app

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Environment variables that the operator reads. OLM and the manifests set them.
const (
	// EnvMemcachedImage is the image for each Memcached whose spec names no image.
	EnvMemcachedImage = "RELATED_IMAGE_MEMCACHED"

	// EnvAgentImage is the image of the agent in a cache's Pods.
	EnvAgentImage = "RELATED_IMAGE_AGENT"

	// EnvSnapshotImage is the image that saves caches.
	EnvSnapshotImage = "RELATED_IMAGE_SNAPSHOT"

	// EnvArchitectures are the architectures, separated by commas, that a Memcached's Pods may run on.
	EnvArchitectures = "OPERAND_ARCHITECTURES"

	// EnvWatchNamespace is the default of --watch-namespaces.
	EnvWatchNamespace = "WATCH_NAMESPACE"

	// EnvMemoryLimit is the limit of the operator's container, in bytes.
	EnvMemoryLimit = "MEMORY_LIMIT"

	// EnvLegacyFieldManagers is the default of --legacy-field-managers, even if the variable is set to an empty text.
	EnvLegacyFieldManagers = "LEGACY_FIELD_MANAGERS"
)

// DefaultLegacyFieldManager is the name of the binary that the Operator SDK's tutorial builds.
const DefaultLegacyFieldManager = "manager"

const (
	// DefaultMemcachedImage is used if EnvMemcachedImage is not set.
	DefaultMemcachedImage = "docker.io/library/memcached:1.6.45"

	// DefaultAgentImage is used if EnvAgentImage is not set. Its tag is the version in operator/cmd/agent/VERSION.
	DefaultAgentImage = "registry.example.com/memcached-agent:0.2.0"

	// DefaultSnapshotImage is used if EnvSnapshotImage is not set. It has no version, because the manifests always set
	// the variable.
	DefaultSnapshotImage = "registry.example.com/memcached-snapshot"
)

// Options are the operator's options.
type Options struct {
	// WatchNamespaces are the namespaces to serve; none means all.
	WatchNamespaces []string

	// MaxConcurrentReconciles is how many Memcacheds are reconciled at a time.
	MaxConcurrentReconciles int

	// MaxConcurrentUpdates is how many Memcacheds with updatePolicy Automatic are updated at a time after an upgrade of
	// the operator.
	MaxConcurrentUpdates int

	// SyncPeriod is how often every Memcached is reconciled without an event.
	SyncPeriod time.Duration

	// LeaderElection elects one of several replicas as the leader.
	LeaderElection bool

	// LeaderElectionNamespace is the namespace of the Lease; empty means the operator's own.
	LeaderElectionNamespace string

	// MetricsAddress is the address of the metrics; "0" disables them.
	MetricsAddress string

	// MetricsInsecure serves metrics over plain HTTP, without authorization.
	MetricsInsecure bool

	// ProbeAddress is the address of /healthz and /readyz; "0" disables them.
	ProbeAddress string

	// ProfilesAddress is the address of the profiles, without authorization; empty, or "0", disables them.
	ProfilesAddress string

	// MemcachedImage is the image for each Memcached whose spec names no image.
	MemcachedImage string

	// AgentImage is the image of the agent in a cache's Pods.
	AgentImage string

	// SnapshotImage is the image that saves caches.
	SnapshotImage string

	// Architectures are the architectures that Pods may run on; none means any.
	Architectures []string

	// LegacyFieldManagers are the field managers of earlier operators, which wrote a Memcached's objects by updates.
	// The operator takes over their fields.
	LegacyFieldManagers []string

	// UsageInterval is the interval at which the operator reads the report of one Pod of each autoscaled cache. UsageProxy
	// is the URL of an HTTP proxy to the Pods; empty means direct connections.
	UsageInterval time.Duration
	UsageProxy    string

	// ShowVersion prints the version and exits.
	ShowVersion bool

	// Log holds the options of the log.
	Log zap.Options
}

// NewOptions returns the default options, some of which environment variables set.
func NewOptions() *Options {
	legacy, given := os.LookupEnv(EnvLegacyFieldManagers)
	if !given {
		legacy = DefaultLegacyFieldManager
	}
	return &Options{
		WatchNamespaces:         splitList(os.Getenv(EnvWatchNamespace)),
		MaxConcurrentReconciles: 10,
		MaxConcurrentUpdates:    1,
		SyncPeriod:              10 * time.Hour,
		MetricsAddress:          ":8443",
		ProbeAddress:            ":8081",
		MemcachedImage:          cmp.Or(os.Getenv(EnvMemcachedImage), DefaultMemcachedImage),
		AgentImage:              cmp.Or(os.Getenv(EnvAgentImage), DefaultAgentImage),
		SnapshotImage:           cmp.Or(os.Getenv(EnvSnapshotImage), DefaultSnapshotImage),
		Architectures:           splitList(os.Getenv(EnvArchitectures)),
		LegacyFieldManagers:     splitList(legacy),
		UsageInterval:           time.Minute,
		Log:                     zap.Options{TimeEncoder: zapcore.RFC3339TimeEncoder},
	}
}

// validate checks values that the parser of the flags cannot check.
func (o *Options) validate() error {
	if o.MaxConcurrentUpdates < 1 {
		return fmt.Errorf("--max-concurrent-updates is %d: set it to 1 or more", o.MaxConcurrentUpdates)
	}
	if o.UsageInterval < time.Second || o.UsageInterval > longestUsageInterval {
		return fmt.Errorf("--usage-interval is %s: set it to 1s to %s", o.UsageInterval, longestUsageInterval)
	}
	return nil
}

// longestUsageInterval is short enough to read five Pods one after another before their agents forget their
// observations (usage.Patience).
const longestUsageInterval = 90 * time.Second

// servesAll reports whether the operator serves all namespaces, and so has cluster-wide rights.
func (o *Options) servesAll() bool { return len(o.WatchNamespaces) == 0 }

// AddFlags adds the flags of the options.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.WatchNamespaces, "watch-namespaces", o.WatchNamespaces,
		"Namespaces to serve, separated by commas; all namespaces if empty. Defaults to $"+EnvWatchNamespace+".")
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", o.MaxConcurrentReconciles,
		"How many Memcacheds are reconciled at a time.")
	flags.IntVar(&o.MaxConcurrentUpdates, "max-concurrent-updates", o.MaxConcurrentUpdates,
		"How many Memcacheds with updatePolicy Automatic are updated at a time after an upgrade of the operator, at least 1.")
	flags.DurationVar(&o.SyncPeriod, "sync-period", o.SyncPeriod,
		"How often every Memcached is reconciled without an event. If nothing differs, this sends no requests.")
	flags.BoolVar(&o.LeaderElection, "leader-elect", o.LeaderElection,
		"Elect one of several replicas as the leader. Required with more than one replica.")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", o.LeaderElectionNamespace,
		"Namespace of the Lease. Defaults to the operator's own; required outside of a cluster.")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress,
		"Address of the metrics, served over TLS to authorized clients; 0 disables them.")
	flags.BoolVar(&o.MetricsInsecure, "metrics-insecure", o.MetricsInsecure,
		"Serve the metrics over plain HTTP, without authorization.")
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress,
		"Address of /healthz and /readyz; 0 disables them.")
	flags.StringVar(&o.ProfilesAddress, "pprof-bind-address", o.ProfilesAddress,
		"Address of /debug/pprof, served over plain HTTP without authorization: use an address on 127.0.0.1. Off by default.")
	flags.StringSliceVar(&o.LegacyFieldManagers, "legacy-field-managers", o.LegacyFieldManagers,
		"Field managers, separated by commas, of operators that created a Memcached's objects before this one. This "+
			"operator takes over their fields, and removes those that it does not set. None if empty. Defaults to $"+
			EnvLegacyFieldManagers+".")
	flags.DurationVar(&o.UsageInterval, "usage-interval", o.UsageInterval,
		"How often the operator reads from one Pod of each Memcached with autoscaling how the Pod is used, 1s to 1m30s. "+
			"An agent forgets its observations unless the operator reads them again within ten minutes.")
	flags.StringVar(&o.UsageProxy, "usage-proxy", o.UsageProxy,
		"URL of an HTTP proxy to the Pods, for an operator outside of their network. No proxy if empty, even if "+
			"$HTTP_PROXY is set.")
	flags.BoolVar(&o.ShowVersion, "version", false, "Print the version and exit.")

	logFlags := flag.NewFlagSet("log", flag.ContinueOnError)
	o.Log.BindFlags(logFlags)
	flags.AddGoFlagSet(logFlags)
}

// splitList splits at commas, and drops blanks, empty entries and duplicates.
func splitList(list string) []string {
	var entries []string
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry != "" && !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	return entries
}
