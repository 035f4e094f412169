package controller

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// lister has a Secret in some namespaces, and answers in others with an error.
type lister struct {
	client.Reader
	has   map[string]bool
	errs  map[string]error
	asked []string
}

func (l *lister) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	settings := (&client.ListOptions{}).ApplyOptions(options)
	l.asked = append(l.asked, settings.Namespace+" "+list.GetObjectKind().GroupVersionKind().Kind)
	if l.has[settings.Namespace] {
		list.(*metav1.PartialObjectMetadataList).Items = make([]metav1.PartialObjectMetadata, 1)
	}
	return l.errs[settings.Namespace]
}

func TestRemnantsAreLookedForOnce(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	other := errors.New("no answer")
	for name, tc := range map[string]struct {
		lister     lister
		namespaces []string
		want       bool
		asked      []string
		err        error
	}{
		"none in the cluster": {asked: []string{" SecretList"}},
		"one in a namespace": {
			lister: lister{has: map[string]bool{"b": true}}, namespaces: []string{"a", "b"}, want: true,
			asked: []string{"a SecretList", "b SecretList"},
		},
		"the right to list them is missing": {
			lister: lister{errs: map[string]error{"": apierrors.NewForbidden(secrets, "", nil)}}, asked: []string{" SecretList"},
		},
		"the cluster does not have the kind": {
			lister: lister{errs: map[string]error{"": apierrors.NewNotFound(secrets, "")}}, asked: []string{" SecretList"},
		},
		"no answer, so that it asks again": {
			lister: lister{errs: map[string]error{"": other}}, asked: []string{" SecretList", " SecretList"}, err: other,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &remnants{live: &tc.lister, kind: observe.Kind{GroupVersionKind: observe.SecretKind}, namespaces: tc.namespaces}
			for range 2 {
				if found, err := r.found(t.Context()); found != tc.want || !errors.Is(err, tc.err) {
					t.Errorf("found %v, error %v", found, err)
				}
			}
			if diff := cmp.Diff(tc.asked, tc.lister.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
