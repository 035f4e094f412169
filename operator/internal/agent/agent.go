// Package agent is the program that runs next to memcached in its Pod. It writes memcached's authentication file,
// makes memcached load changed users and certificates, and exports metrics.
//
// Its assumptions:
//
//   - memcached listens on a loopback address of the Pod in plaintext and, if it has a certificate, on another one with
//     TLS;
//   - with users, memcached starts with --auth-file after the agent has started, shares its process namespace, and
//     runs as the same user;
//   - memcached does not need the agent while nothing changes.
//
// Data flows one way, through these packages: mounted reads a Secret, users and certs validate it, and reload makes
// memcached load it, over a connection that protocol opens. In a Pod with a slot, slot reads the operator's
// instruction, handoff copies the keys, and resize changes how much memory memcached has for keys.
package agent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/operator/internal/agent/endpoint"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/reload"
	"github.com/example-inc/memcached-operator/operator/internal/agent/slot"
	"github.com/example-inc/memcached-operator/operator/internal/agent/watch"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// Run runs the agent until the context ends.
func Run(ctx context.Context, options *Options, version string, log *slog.Logger) error {
	if err := options.Validate(); err != nil {
		return err
	}
	a := &agent{options: options, log: log, version: version}
	a.exporter = &exporter.Exporter{Login: a.login, SlabClasses: options.SlabClasses, Log: log}
	a.addUsers()
	a.addCertificates()
	defer a.exporter.Close()
	group, ctx := errgroup.WithContext(ctx)
	for _, watcher := range a.watchers {
		group.Go(func() error {
			watcher.Run(ctx)
			return nil
		})
	}
	probes := endpoint.Probes(a.started)
	a.usage = watch.New(a.login, a.copied, log)
	probes.Handle("GET "+usage.Path, a.usage)
	group.Go(func() error {
		a.usage.Run(ctx)
		return nil
	})
	if options.HandoffFile != "" {
		follower := a.follower()
		addSlotHandlers(probes, follower.Ready, a.ender(ctx, follower))
		group.Go(func() error {
			a.resizer(follower.Memory).Run(ctx)
			return nil
		})
		group.Go(func() error {
			if err := a.copier.CheckVersion(ctx); err != nil {
				return err
			}
			return follower.Run(ctx)
		})
	}
	a.addDiscovery(ctx, group)
	group.Go(func() error { return endpoint.Serve(ctx, options.MetricsAddress, endpoint.Metrics(a.samples)) })
	group.Go(func() error { return endpoint.Serve(ctx, options.ProbeAddress, probes) })
	return group.Wait()
}

// agent holds the parts that Run combines.
type agent struct {
	options  *Options
	version  string
	log      *slog.Logger
	users    *reload.Users // nil if memcached requires no password
	watchers []*reload.Watcher
	exporter *exporter.Exporter
	usage    *watch.Watcher
	copier   *slot.Memcached // nil without slots
}

func (a *agent) addUsers() {
	if a.options.AuthDir == "" {
		return
	}
	a.users = &reload.Users{
		Dir: a.options.AuthDir, File: a.options.AuthFile, Address: a.options.MemcachedAddress, Proc: a.options.Proc,
		Certificate: a.options.certificate(),
	}
	a.watch("auth", a.users)
}

func (a *agent) addCertificates() {
	source := a.options.certificate()
	if source == nil {
		return
	}
	certificates := &reload.Certificates{Source: *source, Address: a.options.MemcachedTLSAddress, Login: a.login}
	a.watch("tls", certificates)
	a.exporter.Served = certificates.Served
}

func (a *agent) watch(secret string, subject reload.Subject) {
	a.watchers = append(a.watchers, &reload.Watcher{
		Secret: secret, Subject: subject, Interval: a.options.Interval, Log: a.log.With("secret", secret),
	})
}

// login connects to memcached, with a password if it requires one.
func (a *agent) login(ctx context.Context) (*protocol.Client, error) {
	if a.users == nil {
		return protocol.Dial(ctx, a.options.MemcachedAddress, nil)
	}
	return a.users.Login(ctx)
}

// copied returns the time at which this agent last copied keys to memcached; zero if it has copied none.
func (a *agent) copied() time.Time {
	if a.copier == nil {
		return time.Time{}
	}
	return a.copier.Tracker.Copied()
}

// started returns an error until memcached can start. With users, memcached can start once its authentication file
// exists.
func (a *agent) started() error {
	if a.users == nil {
		return nil
	}
	if err := a.users.Started(); err != nil {
		return fmt.Errorf("the authentication file does not exist yet; see the log: %w", err)
	}
	return nil
}
