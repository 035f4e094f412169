// Package target is what the demo on a cluster of one's own works on: what it was told, the cluster, the images, and
// the folders that go to Git.
package target

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Way is how the operator comes into the cluster.
type Way string

// The ways that gitops/ has.
const (
	Direct    Way = "direct"
	OLM       Way = "olm"
	OpenShift Way = "openshift"
	OLMv1     Way = "olm-v1"
)

var ways = []Way{Direct, OLM, OpenShift, OLMv1}

// ByOLM tells of a way in which OLM installs the operator from a catalog.
func (w Way) ByOLM() bool { return w != Direct }

// FromReleases tells of a way in which Argo CD installs OLM itself, from its project's releases.
func (w Way) FromReleases() bool { return w == OLM || w == OLMv1 }

// Branch is what the demo pushes to when it is told no other.
const Branch = "memcached-demo"

// Options are what the demo was told.
type Options struct {
	Way             Way
	Registry        string // host and path
	Repo            string // URL, the same for pushing and for Argo CD
	Revision        string // branch
	Architecture    string // empty: that of the nodes, multiarch where they have several
	ArgoCDNamespace string // empty: where there is one
	MemcachedImage  string // empty: as in the settings of the working tree
	Context         string // of the kubeconfig; empty: the current one
}

// Complete fills in what has a default, some of it from the settings of the working tree, and tells of everything that
// is wrong.
func (o *Options) Complete(now values.Settings) error {
	o.Revision = cmp.Or(o.Revision, Branch)
	o.Registry = strings.TrimSuffix(o.Registry, "/")
	o.MemcachedImage = cmp.Or(o.MemcachedImage, now.MemcachedImage)
	// The settings' own rules are those for a repository, a registry and the rest.
	choices := values.Choices{
		Repo: o.Repo, Revision: o.Revision, Registry: o.Registry, Version: imageTag,
		MemcachedImage: o.MemcachedImage, ArgoCDNamespace: o.ArgoCDNamespace,
		AgentImage: now.AgentImage, CatalogImage: now.CatalogImage, // The demo makes some of its own.
	}
	_, err := choices.Resolve(now)
	return errors.Join(o.validateWay(), o.validateArchitecture(), err)
}

func (o *Options) validateWay() error {
	if slices.Contains(ways, o.Way) {
		return nil
	}
	return fmt.Errorf("--method %q: there is no such way: choose direct, olm, openshift or olm-v1 "+
		"(docs/gitops.md compares them)", o.Way)
}

func (o *Options) validateArchitecture() error {
	if o.Architecture == "" || slices.Contains(values.Architectures(), o.Architecture) {
		return nil
	}
	return fmt.Errorf("--arch %q: there is no overlay for it: choose one of %s",
		o.Architecture, strings.Join(values.Architectures(), ", "))
}
