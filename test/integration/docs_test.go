package integration

import (
	"path/filepath"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/test/docs"
)

// foreignKinds are kinds of other projects that this API server does not know, so their objects are not checked. It
// knows the kinds whose CustomResourceDefinitions docs.CRDs returns.
var foreignKinds = []string{
	"CatalogSource.operators.coreos.com",
	"ClusterCatalog.olm.operatorframework.io",
	"ClusterExtension.olm.operatorframework.io",
	"HelmRelease.helm.toolkit.fluxcd.io",
	"Kustomization.kustomize.config.k8s.io", // not applied to a cluster, but built
	"OperatorGroup.operators.coreos.com",
	"Subscription.operators.coreos.com",
}

// installCRDs installs the CustomResourceDefinitions of other projects.
func installCRDs(t *testing.T) {
	t.Helper()
	files, err := docs.CRDs(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: files, ErrorIfPathMissing: true}); err != nil {
		t.Fatal(err)
	}
}

func TestEveryManifestInTheDocumentationIsTaken(t *testing.T) {
	manifests, err := docs.Manifests(repository)
	if err != nil {
		t.Fatal(err)
	}
	if len(manifests) == 0 {
		t.Fatal("no manifest is found")
	}
	installCRDs(t)
	for _, manifest := range manifests {
		object := manifest.Object
		if slices.Contains(foreignKinds, object.GroupVersionKind().GroupKind().String()) {
			continue // This API server does not know the kind.
		}
		t.Run(manifest.Where, func(t *testing.T) {
			namespaced, err := cluster.IsObjectNamespaced(object)
			if err != nil {
				t.Fatalf("%v: if this is a kind of another project, add it to foreignKinds", err)
			}
			if namespaced {
				object.SetNamespace("default") // The namespace in the manifest need not exist here.
			}
			err = cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
			if err != nil && !apierrors.IsAlreadyExists(err) { // Validation comes before the look-up.
				t.Error(err)
			}
		})
	}
}

// TestTheFleetIsTaken: the CustomResourceDefinitions of Argo CD accept the objects of gitops/fleet.
func TestTheFleetIsTaken(t *testing.T) {
	installCRDs(t)
	objects, err := kustomize.Objects(filepath.Join(repository, "gitops/fleet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		object.SetNamespace("default") // The namespace in the manifest need not exist here.
		err := cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}
