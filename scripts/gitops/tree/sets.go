package tree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/argoproj/argo-cd/v2/applicationset/controllers/template"
	"github.com/argoproj/argo-cd/v2/applicationset/generators"
	"github.com/argoproj/argo-cd/v2/applicationset/utils"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"
	log "github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientset "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// generate returns the Applications that an ApplicationSet makes from the files and for the clusters. It uses the
// packages of Argo CD's applicationset controller.
func (b *Builder) generate(object Object) ([]Object, error) {
	set, err := Decode[v1alpha1.ApplicationSet](object.Unstructured)
	if err != nil {
		return nil, err
	}
	apps, _, err := template.GenerateApplications(
		log.NewEntry(log.StandardLogger()), *set, b.generators(set), &utils.Render{}, b.argoCDsClient(set))
	if err != nil {
		return nil, err
	}
	made := make([]Object, len(apps))
	for i := range apps {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apps[i])
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(ApplicationKind)
		made[i] = Object{Unstructured: u, File: object.File, Namespace: u.GetNamespace(), Wave: syncwaves.Wave(u)}
	}
	return made, nil
}

// generators returns Argo CD's generators, by the names of their fields in an ApplicationSet. The generators that need
// a network return an error.
func (b *Builder) generators(set *v1alpha1.ApplicationSet) map[string]generators.Generator {
	kube := clientset.NewClientset(b.clustersOf(set)...)
	known := map[string]generators.Generator{
		"List":     generators.NewListGenerator(),
		"Clusters": generators.NewClusterGenerator(b.argoCDsClient(set), context.Background(), kube, set.Namespace),
		"Git":      generators.NewGitGenerator(repository{b.Files}, set.Namespace),
	}
	for _, name := range []string{"SCMProvider", "PullRequest", "ClusterDecisionResource", "Plugin"} {
		known[name] = remote{name}
	}
	inner := maps.Clone(known)
	known["Matrix"], known["Merge"] = generators.NewMatrixGenerator(inner), generators.NewMergeGenerator(inner)
	return known
}

// argoCDsClient returns a client with which the generators find the clusters, and the AppProject of the Applications,
// which may name the keys by which commits must be signed.
func (b *Builder) argoCDsClient(set *v1alpha1.ApplicationSet) client.Client {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	project := &v1alpha1.AppProject{}
	project.Name, project.Namespace = set.Spec.Template.Spec.Project, set.Namespace
	return fake.NewClientBuilder().WithScheme(scheme).WithRuntimeObjects(append(b.clustersOf(set), project)...).Build()
}

// clustersOf returns the Secrets of the clusters, in the namespace of Argo CD.
func (b *Builder) clustersOf(set *v1alpha1.ApplicationSet) (secrets []runtime.Object) {
	for _, cluster := range b.Clusters {
		cluster.Namespace = set.Namespace
		secrets = append(secrets, &cluster)
	}
	return secrets
}

// repository gives the Git generator the files, whatever URL the generator names.
type repository struct{ Files }

func (r repository) GetFiles(_ context.Context, _, _, pattern string, _, _ bool) (map[string][]byte, error) {
	found := map[string][]byte{}
	for name, content := range r.Files {
		matches, err := path.Match(pattern, name)
		if err != nil {
			return nil, err
		}
		if matches {
			found[name] = content
		}
	}
	return found, nil
}

func (r repository) GetDirectories(context.Context, string, string, bool, bool) ([]string, error) {
	found := map[string]bool{}
	for name := range r.Files {
		for dir := path.Dir(name); dir != "." && !found[dir]; dir = path.Dir(dir) {
			found[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// remote is a generator that needs a network, because it asks a forge or another program.
type remote struct{ name string }

func (r remote) GenerateParams(
	*v1alpha1.ApplicationSetGenerator, *v1alpha1.ApplicationSet, client.Client,
) ([]map[string]any, error) {
	return nil, fmt.Errorf("the generator %s needs a network: use list, clusters, git, matrix or merge", r.name)
}

func (remote) GetTemplate(*v1alpha1.ApplicationSetGenerator) *v1alpha1.ApplicationSetTemplate {
	return &v1alpha1.ApplicationSetTemplate{}
}

func (remote) GetRequeueAfter(*v1alpha1.ApplicationSetGenerator) time.Duration { return 0 }
