package observe

// The list of managed kinds: they are read, watched and cached.

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Kind is a kind of managed object.
type Kind struct {
	schema.GroupVersionKind

	// New returns an empty object of the kind.
	New func() client.Object
}

// Key identifies a managed object in the namespace of its Memcached.
type Key struct {
	schema.GroupKind
	Name string
}

// Kinds returns the kinds of managed objects that every Memcached has: they are read, watched and cached.
func Kinds() []Kind {
	return []Kind{
		{ServiceKind, func() client.Object { return &corev1.Service{} }},
		{DeploymentKind, func() client.Object { return &appsv1.Deployment{} }},
		{PolicyKind, func() client.Object { return &networkingv1.NetworkPolicy{} }},
		{budgetKind, func() client.Object { return &policyv1.PodDisruptionBudget{} }},
	}
}

// AllKinds returns Kinds, and the kinds that only Memcacheds with slots, a binding or an issuer have. The latter kinds
// are watched once there is such a Memcached.
func AllKinds() []Kind {
	return append(Kinds(),
		Kind{SliceKind, func() client.Object { return &discoveryv1.EndpointSlice{} }},
		Kind{SecretKind, func() client.Object { return &corev1.Secret{} }},
		Kind{CertificateKind, func() client.Object { return &certmanager.Certificate{} }})
}

var (
	budgetKind = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")

	// ServiceKind is the kind of the object that gives Pods, or a slot, a name.
	ServiceKind = corev1.SchemeGroupVersion.WithKind("Service")

	// SliceKind is the kind of the object that records which Pod holds which slot.
	SliceKind = discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")

	// SecretKind is the kind of the object that has what a client needs to connect.
	SecretKind = corev1.SchemeGroupVersion.WithKind("Secret")

	// CertificateKind is the kind of the object for which cert-manager writes the Secret with the certificate.
	CertificateKind = certmanager.Kind

	// PolicyKind is the kind of the object that restricts access to the Pods.
	PolicyKind = networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")

	// DeploymentKind is the kind of the object that runs the Pods.
	DeploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// Selector selects the managed objects and Pods that are cached.
func Selector() labels.Selector {
	instance, err := labels.NewRequirement(names.LabelInstance, selection.Exists, nil)
	if err != nil {
		panic(err) // The label is a constant.
	}
	return labels.SelectorFromSet(labels.Set{names.LabelApp: names.App}).Add(*instance)
}

// Selector selects the objects of the kind that are cached. EndpointSlices of other controllers have the labels of
// their Service, so they need another selector. Secrets need another selector, too, because only the Secrets of
// bindings may be cached.
func (k Kind) Selector() labels.Selector {
	switch k.GroupVersionKind {
	case SliceKind:
		return selectorWith(discoveryv1.LabelManagedBy, names.SliceManager)
	case SecretKind:
		return selectorWith(names.LabelBinding, "true")
	}
	return Selector()
}

func selectorWith(label, value string) labels.Selector {
	own, err := labels.NewRequirement(label, selection.Equals, []string{value})
	if err != nil {
		panic(err) // The label and its value are constants.
	}
	return Selector().Add(*own)
}

// IsCached reports whether the cache holds objects of a kind that have these labels.
func IsCached(kind schema.GroupKind, set labels.Set) bool {
	known, isManaged := find(kind)
	return !isManaged || known.Selector().Matches(set)
}

// New returns an empty object of a managed kind.
func New(kind schema.GroupKind) client.Object {
	known, ok := find(kind)
	if !ok {
		panic("not a kind of managed object: " + kind.String()) // A programming error.
	}
	return known.New()
}

// VersionOf returns the API version in which objects of a managed kind are read.
func VersionOf(kind schema.GroupKind) schema.GroupVersionKind {
	if known, ok := find(kind); ok {
		return known.GroupVersionKind
	}
	return kind.WithVersion("") // It is not a managed kind: reading such an object fails with a clear error.
}

func find(wanted schema.GroupKind) (Kind, bool) {
	for _, kind := range AllKinds() {
		if kind.GroupKind() == wanted {
			return kind, true
		}
	}
	return Kind{}, false
}

func kindsOf(wanted schema.GroupVersionKind) []Kind {
	return slices.DeleteFunc(AllKinds(), func(kind Kind) bool { return kind.GroupVersionKind != wanted })
}
