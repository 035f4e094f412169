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

// foreignKinds are kinds of other projects that the API server here does not know: they are not judged. It knows those
// whose definitions docs.CRDs has.
var foreignKinds = []string{
	"CatalogSource.operators.coreos.com",
	"ClusterCatalog.olm.operatorframework.io",
	"ClusterExtension.olm.operatorframework.io",
	"HelmRelease.helm.toolkit.fluxcd.io",
	"Kustomization.kustomize.config.k8s.io", // no object: it is built
	"OperatorGroup.operators.coreos.com",
	"Subscription.operators.coreos.com",
}

// installCRDs installs those of other projects.
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
			continue // Nothing here can judge it.
		}
		t.Run(manifest.Where, func(t *testing.T) {
			namespaced, err := cluster.IsObjectNamespaced(object)
			if err != nil {
				t.Fatalf("%v: a kind of another project belongs into foreignKinds", err)
			}
			if namespaced {
				object.SetNamespace("default") // The reader's own need not be there.
			}
			err = cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
			if err != nil && !apierrors.IsAlreadyExists(err) { // It is judged before it is looked up.
				t.Error(err)
			}
		})
	}
}

// TestTheFleetIsTaken: the definitions of Argo CD accept what gitops/fleet applies.
func TestTheFleetIsTaken(t *testing.T) {
	installCRDs(t)
	objects, err := kustomize.Objects(filepath.Join(repository, "gitops/fleet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		object.SetNamespace("default") // The reader's own need not be there.
		err := cluster.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}
