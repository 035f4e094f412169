package verify

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/common"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// fleet is the folder with ApplicationSets that make a root Application for each cluster. caches is the folder that has
// a folder with caches for each environment.
const fleet, caches = "gitops/fleet", "caches"

// example is a cache for an environment in which the user has none yet.
const example = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: example\n" +
	"  annotations: {argocd.argoproj.io/sync-options: \"Prune=false,Delete=false\"}\n---\n" +
	"apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: example, namespace: example}\nspec: {}\n"

// notInFleets are rules that do not hold in a fleet. They are for a tree whose Applications have waves, and whose
// AppProjects are for one cluster.
var notInFleets = sets.New("application", "project", "order-of-kinds", "order-of-namespaces")

// fleets verifies what the ApplicationSets in fleet make, for an example of each kind of cluster.
func (r *run) fleets() {
	if _, found := r.Files.Kustomization(fleet); !found || r.Consumer != nil {
		return
	}
	files, environments := withEnvironments(r.builder.Files)
	b := r.builder.With(files)
	b.Clusters = clusters(r.Methods, files.Architectures(), environments)
	trees, err := b.Fleet(fleet)
	if err != nil {
		r.fail("complete", fleet, "try kubectl kustomize "+fleet, "kustomize can't build it: %v", err)
		return
	}
	if trees[0].Root == nil && len(trees[0].Faults) == 0 {
		r.fail("complete", fleet, "correct the generators: docs/gitops.md says which labels a cluster has",
			"its ApplicationSets make no Application for any of %d example clusters", len(b.Clusters))
	}
	for _, t := range trees {
		r.report.Applications += len(t.All())
		for _, rule := range rules {
			if !notInFleets.Has(rule.name) {
				rule.check(subject{Tree: t, builder: b, add: r.inFleets(rule.name)})
			}
		}
	}
}

// withEnvironments returns the files, and the environments that have caches. If no environment has caches, it adds an
// environment with an example of a cache.
func withEnvironments(files tree.Files) (tree.Files, []string) {
	environments := sets.New[string]()
	for name := range files {
		if parts := strings.Split(name, "/"); parts[0] == caches && len(parts) > 2 {
			environments.Insert(parts[1])
		}
	}
	if len(environments) > 0 {
		return files, sets.List(environments)
	}
	return files.With(tree.Files{path.Join(caches, "prod/example.yaml"): []byte(example)}), []string{"prod"}
}

// inFleets adds the faults that a rule finds in fleets, except those that are already known from a tree or another
// cluster.
func (r *run) inFleets(rule string) func(tree.Fault) {
	return func(fault tree.Fault) {
		if !slices.ContainsFunc(r.found, func(known Problem) bool {
			return known.Rule == rule && known.File == fault.File && known.Text == fault.Text
		}) {
			r.reporter(rule)(fault)
		}
	}
}

// clusters returns a cluster for each combination of an install method and an architecture. The environments and rings
// are distributed over them.
func clusters(methods, architectures, environments []string) (all []corev1.Secret) {
	for i, method := range methods {
		for j, architecture := range architectures {
			name := fmt.Sprintf("%s-%s", method, architecture)
			all = append(all, corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
					common.LabelKeySecretType: common.LabelValueSecretTypeCluster, "way": method, "arch": architecture,
					"environment": environments[(i+j)%len(environments)], "ring": fmt.Sprint((i+j)%3 + 1),
				}},
				Data: map[string][]byte{"name": []byte(name), "server": []byte("https://" + name + ".example.com:6443")},
			})
		}
	}
	return all
}
