package controller

// The watch of Certificates, whose API the cluster may not have. Only caches with an issuer need it.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
)

// If the operator does not have these rights, the status of each Memcached with an issuer says so.
// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;list;watch;create;patch;delete

// certificateRights are the rights that the operator needs for caches with an issuer.
var certificateRights = []authorizationv1.ResourceAttributes{
	{Group: certmanager.Group, Resource: "certificates", Verb: "get"},
	{Group: certmanager.Group, Resource: "certificates", Verb: "list"},
	{Group: certmanager.Group, Resource: "certificates", Verb: "watch"},
	{Group: certmanager.Group, Resource: "certificates", Verb: "create"},
	{Group: certmanager.Group, Resource: "certificates", Verb: "patch"},
	{Group: certmanager.Group, Resource: "certificates", Verb: "delete"},
}

// certManagerTTL is how long the operator assumes that cert-manager's API still does not exist, after it did not find
// the API.
const certManagerTTL = 30 * time.Second

// noCertManager and noCertificateRights are messages about why no certificates can be requested, with the fix.
const (
	noCertManager = "needs cert-manager, " +
		"and the cluster does not have its API cert-manager.io/v1: install cert-manager"
	noCertificateRights = "needs rights that this operator was installed without (%s): " +
		"add these rights to the operator's role"
)

// certificateWatch watches Certificates, once a Memcached has an issuer and the cluster has cert-manager's API.
type certificateWatch struct {
	controller controller.Controller
	cache      client.Reader
	live       client.Reader
	rights     *rights
	source     source.Source

	mu      sync.Mutex
	started bool
	missing time.Time // when the API was found to be missing
}

func newCertificateWatch(
	mgr ctrl.Manager, reader client.Reader, needed *rights, changes predicate.Predicate,
) *certificateWatch {
	owner := handler.EnqueueRequestForOwner(
		mgr.GetScheme(), mgr.GetRESTMapper(), &cachev1.Memcached{}, handler.OnlyControllerOwner())
	var certificate client.Object = &certmanager.Certificate{}
	return &certificateWatch{
		cache: reader, live: mgr.GetAPIReader(), rights: needed,
		source: source.Kind(mgr.GetCache(), certificate, owner, changes),
	}
}

// startFor starts the watch if the Memcached has an issuer, or had one. It returns whether the operator can read
// Certificates and, if not, why it can't request any.
func (w *certificateWatch) startFor(ctx context.Context, mc *cachev1.Memcached) (can bool, problem string, err error) {
	if !w.concerns(ctx, mc) {
		return false, "", nil
	}
	missing, err := w.rights.missing(ctx)
	if err != nil {
		return false, "", err
	}
	if len(missing) > 0 {
		return false, fmt.Sprintf(noCertificateRights, strings.Join(missing, ", ")), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch served, err := w.isServed(ctx, mc); {
	case err != nil:
		return false, "", err
	case !served && wantsCertificate(mc):
		return false, noCertManager, nil
	case !served:
		return false, "", nil // Without the API, there is no Certificate.
	case w.started:
		return true, "", nil
	}
	if err := w.controller.Watch(w.source); err != nil {
		return false, "", fmt.Errorf("watch Certificates: %w", err)
	}
	w.started = true
	return true, "", nil
}

// concerns reports whether a Memcached has an issuer, or still has the Certificate of a former issuer. If the spec
// changed while the operator created a Certificate, the status does not name the Certificate, but the cache of the
// watch has it, if the watch runs.
func (w *certificateWatch) concerns(ctx context.Context, mc *cachev1.Memcached) bool {
	if wantsCertificate(mc) || mc.Status.Certificate != "" {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started && w.cache.Get(ctx, client.ObjectKeyFromObject(mc), &certmanager.Certificate{}) == nil
}

// isServed reports whether the cluster has the API. It asks the API server unless the cache has the Certificate, which
// would not exist without the API.
func (w *certificateWatch) isServed(ctx context.Context, mc *cachev1.Memcached) (bool, error) {
	if w.started && w.cache.Get(ctx, client.ObjectKeyFromObject(mc), &certmanager.Certificate{}) == nil {
		return true, nil
	}
	if time.Since(w.missing) < certManagerTTL {
		return false, nil
	}
	err := w.live.List(ctx, &certmanager.CertificateList{}, client.InNamespace(mc.Namespace), client.Limit(1))
	switch {
	case apierrors.IsNotFound(err):
		w.missing = time.Now()
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask whether the cluster has cert-manager: %w", err)
	}
	return true, nil
}

func wantsCertificate(mc *cachev1.Memcached) bool {
	return mc.Spec.TLS != nil && mc.Spec.TLS.IssuerRef != nil
}
