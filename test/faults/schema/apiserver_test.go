package schema

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// valuesOfEachField is how many values of each field the API server judges.
const valuesOfEachField = 3

// TestTheAPIServerAgrees checks that the package and a real API server accept and refuse the same specs.
func TestTheAPIServerAgrees(t *testing.T) {
	server, s, r := startAPIServer(t), read(t), random(3)
	var judge errgroup.Group
	judge.SetLimit(8)
	try := func(field, what string, spec map[string]any, valid bool) {
		judge.Go(func() error {
			err := create(t, server, spec)
			if valid != (err == nil) || err != nil && !apierrors.IsInvalid(err) {
				t.Errorf("%s, a value %s: %s: %v", field, what, encoded(spec), err)
			}
			return nil
		})
	}
	for _, f := range s.Fields() {
		for range valuesOfEachField {
			try(f.Path, "that is valid", s.Valid(r, f), true)
		}
		try(f.Path, "of another type", s.Invalid(r, OtherType(f)), false)
	}
	for _, breach := range breaches(s) {
		try(breach.Field.Path, breach.What, s.Invalid(r, breach), false)
	}
	for i := range 50 {
		spec := s.Spec(r)
		try(fmt.Sprintf("spec %d", i), "that is valid", spec, true)
		try(fmt.Sprintf("spec %d", i), "that is the same", s.Respell(r, spec), true)
	}
	_ = judge.Wait()
}

func create(t *testing.T, server client.Client, spec map[string]any) error {
	mc := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	mc.SetGroupVersionKind(cachev1.GroupVersion.WithKind("Memcached"))
	mc.SetNamespace("default")
	mc.SetName("cache")
	return server.Create(t.Context(), mc, client.DryRunAll)
}

func startAPIServer(t *testing.T) client.Client {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: this test needs etcd and kube-apiserver. " +
			"Run it by make test ARGS='-run TestTheAPIServerAgrees'")
	}
	env := &envtest.Environment{CRDDirectoryPaths: []string{"../../../operator/config/crd/bases"}}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	config.QPS = -1
	server, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return server
}
