package commands

// The command report.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/report"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/slabs"
)

type reportOptions struct {
	reachOptions

	file     string
	interval time.Duration
}

func newReport(p *plugin, version string) *cobra.Command {
	options := &reportOptions{}
	command := &cobra.Command{
		Use:   "report NAME -o FILE",
		Short: "Write a page about an incident: state, causes, slots, events and figures",
		Long: "Writes one HTML page about a cache, to attach to an incident: the output of status, why, top, slabs and " +
			"sizes, all events,\nthe spec, and plots. It has no content of Secrets, no keys and no values, and loads " +
			"nothing. It lists\nanything that could not be read.",
		Example: "  kubectl memcached report sessions -n team -o report.html\n" +
			"  kubectl memcached report sessions -o - | gzip >report.html.gz",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			switch {
			case options.file == "":
				return errors.New("--output is missing: name a file such as report.html, or - for stdout")
			case options.interval < time.Second:
				return fmt.Errorf("--interval %s is too short: write 1s or more", options.interval)
			}
			return p.report(command.Context(), names[0], version, *options)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&options.file, "output", "o", "", "File to write, which is overwritten; - is stdout.")
	flags.DurationVar(&options.interval, "interval", time.Second, "Time between two samples of the load, 1s or more.")
	options.addFlags(command)
	return command
}

// report writes a page about a cache.
func (p *plugin) report(ctx context.Context, name, version string, options reportOptions) error {
	if err := options.check(); err != nil {
		return err
	}
	p.timeout = options.timeout
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	observed, err := cluster.Observe(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	b := &builder{now: p.screen.Now, page: report.Report{
		Namespace: namespace, Name: name, Summary: overview.SummaryOf(observed.Memcached),
		Taken: p.screen.Now, Version: version,
	}}
	for _, unread := range observed.Unread {
		b.page.Unread = append(b.page.Unread, "You have no right to read: "+unread)
	}
	b.addCauses(evidence(ctx, cluster, observed))
	b.addStatus(observed)
	if err := p.addServers(ctx, b, name, options); err != nil {
		b.page.Unread = append(b.page.Unread, "The memcached servers: "+err.Error())
	}
	if err := b.addRest(observed); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := b.page.Write(&out); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	if options.file == "-" {
		_, err = out.WriteTo(p.Out)
		return err
	}
	const ownerOnly = 0o600
	if err := os.WriteFile(options.file, out.Bytes(), ownerOnly); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	fmt.Fprintf(p.ErrOut, "%s written\n", options.file)
	return nil
}

// builder collects the content of a page.
type builder struct {
	now  time.Time
	page report.Report
}

// add adds a section with the text that a function prints to a screen.
func (b *builder) add(title string, show func(screen.Screen) error) {
	var out bytes.Buffer
	if err := show(screen.Screen{Writer: &out, Now: b.now}); err != nil {
		b.page.Unread = append(b.page.Unread, title+": "+err.Error())
	}
	if out.Len() > 0 {
		b.page.Sections = append(b.page.Sections, report.Section{Title: title, Text: out.String()})
	}
}

// addCauses adds the explanation of the state of the cache. It leaves out a log in which memcached writes the keys of
// clients.
func (b *builder) addCauses(e cause.Evidence) {
	if isVerbose(e.Memcached) && e.Log != "" {
		e.Log, e.LogErr = "", errors.New("left out, because an argument in spec.extraArgs makes memcached log keys")
	}
	b.add("Causes", func(s screen.Screen) error { return s.Explanation(cause.Explain(e)) })
}

func isVerbose(mc *cachev1.Memcached) bool {
	return slices.ContainsFunc(mc.Spec.ExtraArgs, func(argument string) bool {
		return strings.HasPrefix(argument, "-v") || strings.HasPrefix(argument, "--verbose")
	})
}

// addStatus adds the screen of the cache without events, which have their own section.
func (b *builder) addStatus(observed access.Observed) {
	cache := overview.CacheOf(observed, b.now)
	cache.Events = nil
	b.add("State and slots", func(s screen.Screen) error { return s.Cache(cache, true) })
}

// addRest adds the events and the spec. The spec has the names of Secrets, but nothing of their content.
func (b *builder) addRest(observed access.Observed) error {
	if events := overview.EventsOf(observed.Events); len(events) > 0 {
		b.add("Events", func(s screen.Screen) error { return s.Events(events) })
	}
	spec, err := yaml.Marshal(observed.Memcached.Spec)
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	b.add("Spec", func(s screen.Screen) error {
		_, err := s.Write(spec)
		return err
	})
	return nil
}

// addServers adds the figures of the servers.
func (p *plugin) addServers(ctx context.Context, b *builder, name string, options reportOptions) error {
	r, err := p.reach(ctx, name, options.reachOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	before := map[string]load.Sample{}
	if _, err := r.loads(ctx, before); err != nil {
		return err
	}
	select {
	case <-time.After(options.interval):
	case <-ctx.Done():
		return ctx.Err()
	}
	loads, err := r.loads(ctx, before)
	if err != nil {
		return err
	}
	b.addLoads(loads)
	answers := reach.All(ctx, r.Cache, r.servers, 0, slabs.Take)
	if err := failed(answers); err != nil {
		return err
	}
	b.addSlabs(slabsOf(answers))
	return nil
}

// addLoads adds the load of servers, with plots.
func (b *builder) addLoads(loads []screen.Load) {
	b.add("Load", func(s screen.Screen) error { return s.Loads(loads) })
	for _, plot := range []struct {
		title string
		value func(load.Load) (float64, string)
		most  float64
	}{
		{"Memory used, of the limit", func(l load.Load) (float64, string) {
			used := float64(l.Used) / float64(max(l.Limit, 1))
			return used, screen.Percent(&used) + " of " + screen.Size(l.Limit)
		}, 1},
		{"Hits, in the interval", func(l load.Load) (float64, string) { return known(l.HitRatio, screen.Percent) }, 1},
		{"Hits, since the start", func(l load.Load) (float64, string) { return known(l.TotalHitRatio, screen.Percent) }, 1},
		{"Requests per second", func(l load.Load) (float64, string) { return known(l.Requests, screen.Rate) }, 0},
		{"Evictions per second", func(l load.Load) (float64, string) { return known(l.Evictions, screen.Rate) }, 0},
	} {
		drawn := report.Plot{Title: plot.title}
		for _, l := range loads {
			value, text := plot.value(l.Load)
			if l.Error != "" {
				value, text = 0, "no answer"
			}
			drawn.Add(cmp.Or(l.Slot, l.Pod), text, value)
		}
		drawn.Scale(plot.most)
		b.page.Plots = append(b.page.Plots, drawn)
	}
}

// known returns a value and its text, or a text that says that the value is not known.
func known(value *float64, text func(*float64) string) (float64, string) {
	if value == nil {
		return 0, "not known"
	}
	return *value, text(value)
}

// addSlabs adds the sizes of items, with a plot, and the slab classes.
func (b *builder) addSlabs(servers []screen.Slabs) {
	buckets := bucketsOf(servers)
	drawn := report.Plot{Title: "Items, by their size"}
	for _, bucket := range buckets {
		label := fmt.Sprintf("at most %s bytes", screen.Size(bucket.AtMost))
		drawn.Add(label, fmt.Sprint(bucket.Items), float64(bucket.Items))
	}
	if drawn.Scale(0); len(buckets) > 0 {
		b.page.Plots = append(b.page.Plots, drawn)
	}
	b.add("Slab classes", func(s screen.Screen) error { return s.Slabs(servers) })
}
