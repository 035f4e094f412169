//go:build e2e

package helm

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	releasei "helm.sh/helm/v4/pkg/release"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	clusterName = "e2e-helm"

	// patience is how long something may take that normally takes seconds.
	patience = 3 * time.Minute
)

// site is a cluster whose registry has the images that the charts name.
type site struct {
	*pipeline.Pipeline
	images    pipeline.Images
	operators map[string]string  // the operator's image by version
	release   *releasev1.Release // after the last action
}

func newSite(t *testing.T) *site {
	t.Helper()
	down := func(ctx context.Context) {
		if _, err := local.Down(ctx, clusterName); err != nil {
			t.Error(err)
		}
	}
	down(t.Context()) // the rest of an interrupted run
	s := &site{operators: map[string]string{}}
	var err error
	if s.Pipeline, err = deployed.Up(t.Context(), local.Options{Name: clusterName}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if os.Getenv("E2E_KEEP") != "" {
			t.Logf("The cluster is left running: export KUBECONFIG=%s", s.Cluster.Kubeconfig)
			return
		}
		down(context.WithoutCancel(t.Context()))
	})
	err = progress.Stage(t.Context(), "Images", func(update func(string)) error {
		if s.images, err = s.PushImages(t.Context(), oldVersion, update); err != nil {
			return err
		}
		s.operators[oldVersion] = s.images.Operator
		s.operators[newVersion], err = deployed.PushOperator(t.Context(), s.Pipeline, newVersion)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.AddToScheme(s.Client.Scheme()); err != nil {
		t.Fatal(err)
	}
	if err := s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// chart writes the chart of a version, which uses the images in the cluster's registry.
func (s *site) chart(t *testing.T, version string) string {
	t.Helper()
	return pack(t, chart.Options{
		Version: version,
		Images:  bundle.Images{Operator: s.operators[version], Agent: s.images.Agent, Memcached: s.images.Memcached},
	})
}

// configuration returns a new configuration for each action, as each call of helm has one.
func (s *site) configuration(t *testing.T) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.KubeConfig = s.Cluster.Kubeconfig
	settings.SetNamespace(namespace)
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := configuration.Init(settings.RESTClientGetter(), namespace, ""); err != nil {
		t.Fatal(err)
	}
	return configuration
}

func (s *site) tryInstall(t *testing.T, path, values string) error {
	t.Helper()
	install := action.NewInstall(s.configuration(t))
	install.ReleaseName, install.Namespace, install.CreateNamespace = chart.Name, namespace, true
	install.WaitStrategy, install.Timeout = kube.StatusWatcherStrategy, patience
	result, err := install.RunWithContext(t.Context(), load(t, path), parseValues(t, values))
	if err == nil {
		s.note(t, result)
	}
	return err
}

func (s *site) install(t *testing.T, path, values string) {
	t.Helper()
	if err := s.tryInstall(t, path, values); err != nil {
		t.Fatal(err)
	}
}

func (s *site) upgrade(t *testing.T, path, values string) {
	t.Helper()
	upgrade := action.NewUpgrade(s.configuration(t))
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = namespace, kube.StatusWatcherStrategy, patience
	result, err := upgrade.RunWithContext(t.Context(), chart.Name, load(t, path), parseValues(t, values))
	if err != nil {
		t.Fatal(err)
	}
	s.note(t, result)
}

func (s *site) rollback(t *testing.T, revision int) {
	t.Helper()
	configuration := s.configuration(t)
	rollback := action.NewRollback(configuration)
	rollback.Version, rollback.WaitStrategy, rollback.Timeout = revision, kube.StatusWatcherStrategy, patience
	if err := rollback.Run(chart.Name); err != nil {
		t.Fatal(err)
	}
	result, err := configuration.Releases.Last(chart.Name)
	if err != nil {
		t.Fatal(err)
	}
	s.note(t, result)
}

func (s *site) uninstall(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(s.configuration(t))
	uninstall.WaitStrategy, uninstall.Timeout = kube.StatusWatcherStrategy, patience
	if _, err := uninstall.Run(chart.Name); err != nil {
		t.Fatal(err)
	}
}

func (s *site) note(t *testing.T, result releasei.Releaser) {
	t.Helper()
	release, ok := result.(*releasev1.Release)
	if !ok {
		t.Fatalf("the release is a %T", result)
	}
	s.release = release
}
