// Package plan shows a tree as Argo CD would apply it, and what differs between two trees.
package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// Plan is a tree, in the order in which it is applied.
type Plan struct {
	Way          string   `json:"method"`
	Architecture string   `json:"architecture"`
	Options      []string `json:"options"`
	Repository   string   `json:"repository"`
	Revision     string   `json:"revision"`
	// Given are kinds that must be in the cluster already, each with who brings it.
	Given []string `json:"given"`
	// ByHand is what somebody applies once.
	ByHand       Application   `json:"byHand"`
	Root         Application   `json:"root"`
	Applications []Application `json:"applications"`
}

// Application is an Application, or the folder that is applied by hand.
type Application struct {
	Name      string   `json:"name,omitempty"`
	Wave      int      `json:"wave"`
	Path      string   `json:"path"`
	Project   string   `json:"project,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Sources   []string `json:"sources,omitempty"`
	Objects   []Object `json:"objects"`
	Images    []string `json:"images"`
}

// Object is an object of it.
type Object struct {
	Group     string     `json:"group"`
	Version   string     `json:"version"`
	Kind      string     `json:"kind"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name"`
	Wave      int        `json:"wave"`
	Health    argo.Judge `json:"health"`
	// Keep is what the object stays for in the cluster: its removal from Git, the deletion of its Application.
	Keep   []string `json:"keep,omitempty"`
	Source string   `json:"source,omitempty"`
	// StandIn: only the name is known, from gitops/sources.json.
	StandIn bool     `json:"standIn,omitempty"`
	Images  []string `json:"images,omitempty"`

	manifest string
}

// Reasons that an object is kept for.
const (
	KeptOnPrune  = "prune"
	KeptOnDelete = "delete"
)

// New plans a way.
func New(ctx context.Context, b *tree.Builder, way string, options []string) (Plan, error) {
	t, err := b.Build(way)
	if err != nil {
		return Plan{}, err
	}
	if err := whole(b, t); err != nil {
		return Plan{}, err
	}
	settings, err := b.ArgoCD(ctx)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Way: way, Architecture: t.Settings.Architecture, Options: append([]string{}, options...),
		Repository: t.Settings.RepoURL, Revision: t.Settings.Revision, Given: given(b, t),
	}
	p.ByHand, err = application(tree.App{Objects: t.ByHand}, settings)
	p.ByHand.Path = t.Bootstrap
	errs := []error{err}
	p.Root, err = application(*t.Root, settings)
	errs = append(errs, err)
	for _, app := range t.Apps {
		planned, err := application(*app, settings)
		errs = append(errs, err)
		p.Applications = append(p.Applications, planned)
	}
	return p, errors.Join(errs...)
}

// whole makes sure that nothing is missing in the tree.
func whole(b *tree.Builder, t *tree.Tree) error {
	var errs []error
	for _, fault := range t.Faults {
		errs = append(errs, fmt.Errorf("%s: %s: %s", fault.Where(), fault.Text, fault.Remedy))
	}
	for _, address := range slices.Sorted(maps.Keys(b.Failed)) {
		errs = append(errs, fmt.Errorf("%s: %w", address, b.Failed[address]))
	}
	return errors.Join(errs...)
}

// given are the kinds that the cluster must bring, as a sentence each.
func given(b *tree.Builder, t *tree.Tree) []string {
	found := []string{}
	for _, need := range b.Needs(t) {
		found = append(found, fmt.Sprintf("%s of %s", need.Kind.Kind, need.By))
	}
	return found
}

func application(app tree.App, settings argo.Settings) (Application, error) {
	a := Application{Wave: app.Wave, Objects: []Object{}, Images: []string{}}
	if app.Application != nil {
		a.Name, a.Path, a.Project = app.Name, app.Spec.GetSource().Path, app.Spec.Project
		a.Namespace = app.Spec.Destination.Namespace
	}
	for _, o := range app.Objects {
		object, err := planned(o, settings)
		if err != nil {
			return a, err
		}
		a.Objects = append(a.Objects, object)
		a.Images = append(a.Images, o.Images...)
		if o.Source != "" {
			a.Sources = append(a.Sources, o.Source)
		}
	}
	a.Images, a.Sources = sorted(a.Images), sorted(a.Sources)
	return a, nil
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

func planned(o tree.Object, settings argo.Settings) (Object, error) {
	kind := o.GroupVersionKind()
	judge, err := settings.Judge(kind)
	if err != nil {
		return Object{}, err
	}
	manifest, err := text(o.Unstructured)
	object := Object{
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespace: o.Namespace, Name: o.GetName(),
		Wave: o.Wave, Health: judge, Source: o.Source, StandIn: o.StandIn, Images: o.Images,
		manifest: manifest,
	}
	if o.KeptOnPrune() {
		object.Keep = append(object.Keep, KeptOnPrune)
	}
	if o.KeptOnDelete() {
		object.Keep = append(object.Keep, KeptOnDelete)
	}
	return object, err
}

func text(u *unstructured.Unstructured) (string, error) {
	content, err := yaml.Marshal(u.Object)
	return string(content), err
}
