package cut

import (
	"context"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Stamped is a tree with a release in it. Images are named by tag and digest.
type Stamped struct {
	Dir      string // of the tree
	Version  string
	Registry string

	Operator  string
	Agent     string
	AgentKept bool // the agent's image is that of an earlier release, and these sources make another
	Bundle    string
	Catalog   string
	Memcached string // of a Memcached that names none; it may lack a digest

	Commit   string
	Time     string   // of the commit, as in 2026-01-31T12:00:00Z
	LastTag  string   // of the release before this one; empty: there is none
	Subjects []string // of the commits since, the newest first
}

// WriteTo writes the files of the commit, with the release in them, into an empty folder, and changes nothing else.
func (r *Release) WriteTo(ctx context.Context, dir string) (*Stamped, error) {
	f, made, err := r.write(ctx, dir)
	if err != nil {
		return nil, err
	}
	settings, err := values.Read(dir)
	if err != nil {
		return nil, err
	}
	return &Stamped{
		Dir: dir, Version: r.Version, Registry: r.Registry,
		Operator: f.image, Agent: f.agent, AgentKept: f.agentKept, Memcached: settings.MemcachedImage,
		Bundle:  r.bundleImage() + ":v" + r.Version + "@" + digestIn(made.bundle),
		Catalog: r.catalogImage() + ":v" + r.Version + "@" + digestIn(made.catalog),
		Commit:  f.commit, Time: f.time, LastTag: f.lastTag, Subjects: f.subjects,
	}, nil
}
