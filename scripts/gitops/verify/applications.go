package verify

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/resource"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// subject is the tree that a rule verifies, or an Application whose objects it verifies.
type subject struct {
	*tree.Tree
	builder *tree.Builder
	app     *tree.App
	add     func(tree.Fault)
}

func (s subject) fail(file, application, fix, format string, args ...any) {
	s.add(tree.Fault{File: file, Application: application, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// refuse adds a fault of an object. The text continues after the object's name.
func (s subject) refuse(o tree.Object, fix, format string, args ...any) {
	s.fail(o.Place(), s.app.Name, fix, "%s%s", o, fmt.Sprintf(format, args...))
}

// each returns a rule that checks each object of the Applications.
func each(check func(subject, tree.Object)) func(subject) {
	return func(s subject) {
		for app, o := range s.Objects() {
			s.app = app
			check(s, o)
		}
	}
}

// everywhere returns a rule that checks all objects, including those that the user applies by hand.
func everywhere(check func(subject, tree.Object)) func(subject) {
	return func(s subject) {
		s.app = &s.ByHand
		for _, o := range s.ByHand.Objects {
			check(s, o)
		}
		each(check)(s)
	}
}

// complete: nothing of the tree is missing, and each object is as Argo CD's types allow.
func complete(s subject) {
	for _, fault := range s.Faults {
		s.add(fault)
	}
}

const (
	policyFile = "gitops/settings/policy.yaml"
	byPolicy   = "take it from " + policyFile + " by the component gitops/settings"
	bySettings = "let the component gitops/settings write it"
)

// partOf is the label by which the health check of Applications recognizes the Applications of this tree.
const partOf, partOfValue = "app.kubernetes.io/part-of", "memcached-operator"

// outlives are Applications whose deletion must keep the objects that they installed. If OLM were deleted, nothing
// could delete the objects that OLM made.
var outlives = []string{"olm"}

// applications: each Application is synced, compared and deleted as gitops/settings/policy.yaml says, and its source is
// the one that the settings name.
func applications(s subject) {
	for _, app := range s.All() {
		need := func(met bool, fix, format string, args ...any) {
			if !met {
				s.fail(app.Manifest.File, app.Name, fix, format, args...)
			}
		}
		policy := app.Spec.SyncPolicy
		if policy == nil {
			policy = &v1alpha1.SyncPolicy{}
		}
		need(policy.Retry != nil && policy.Retry.Limit != 0 && policy.Retry.Backoff != nil, byPolicy,
			"has no spec.syncPolicy.retry with a limit and a backoff, so a failed sync is not retried")
		need(policy.Automated != nil && policy.Automated.Prune && policy.Automated.SelfHeal, byPolicy,
			"has no spec.syncPolicy.automated with prune and selfHeal, so the cluster does not follow Git")
		need(policy.SyncOptions.HasOption(common.SyncOptionServerSideApply), byPolicy,
			"does not have the sync option ServerSideApply=true, without which large CRDs can't be applied")
		need(!policy.SyncOptions.HasOption(common.SyncOptionReplace), "remove it",
			"has the sync option Replace=true, which deletes the fields of other field managers")
		need(resource.HasAnnotationOption(app.Manifest, "argocd.argoproj.io/compare-options", "ServerSideDiff=true"),
			byPolicy, "does not have the annotation argocd.argoproj.io/compare-options: ServerSideDiff=true")
		need(app.CascadedDeletion() || slices.Contains(outlives, app.Name), byPolicy,
			"does not have the finalizer %s, so deleting it does not delete what it installed", v1alpha1.ResourcesFinalizerName)
		need(app.Labels[partOf] == partOfValue, byPolicy,
			"does not have the label %s: %s, by which its health check recognizes it", partOf, partOfValue)
		need(len(app.Spec.Sources) == 0, "name one spec.source: the tree is one repository", "has spec.sources")
		to := app.Spec.Destination
		need((to.Server == v1alpha1.KubernetesInternalAPIServerAddr) != (to.Name == "in-cluster"),
			"name the cluster of Argo CD itself, by server: "+v1alpha1.KubernetesInternalAPIServerAddr+" or by name: in-cluster",
			"spec.destination names another cluster, or two: server %q and name %q", to.Server, to.Name)
		source := app.Spec.GetSource()
		repository, revision := s.Settings["repoURL"], s.Settings["revision"]
		if c := s.builder.Consumer; c != nil && source.RepoURL == c.URL {
			repository, revision = c.URL, c.Ref
		}
		for _, f := range []struct{ field, value, want string }{
			{"spec.source.repoURL", source.RepoURL, repository},
			{"spec.source.targetRevision", source.TargetRevision, revision},
			{"metadata.namespace", app.Namespace, s.Settings["argocdNamespace"]},
		} {
			need(f.value == f.want, bySettings, "%s is %q, but in the settings it is %q", f.field, f.value, f.want)
		}
	}
}

// waves: each wave is a number. Otherwise, Argo CD would use the wave 0, and report no error.
func waves(s subject, o tree.Object) {
	text, found := o.GetAnnotations()[common.AnnotationSyncWave]
	if _, err := strconv.Atoi(text); found && err != nil {
		s.refuse(o, "write a number in quotes", ": the wave %q is no number", text)
	}
}

// accepted: the API server accepts the objects of this repository, in each version of Argo CD that the tree supports.
func accepted(s subject, o tree.Object) {
	if o.Source != "" {
		return
	}
	for _, text := range s.builder.Schemas.Faults(o.Unstructured) {
		s.refuse(o, "correct or remove the field", ": %s", text)
	}
}

// owners: each object is in only one Application, because two Applications would overwrite each other's changes to it.
func owners(s subject) {
	owner := map[string]*tree.App{}
	each(func(s subject, o tree.Object) {
		if other, taken := owner[o.Key()]; taken {
			s.refuse(o, "remove one of them", " is also an object of Application %s", other.Name)
		}
		owner[o.Key()] = s.app
	})(s)
}

// keep: an object whose deletion would delete caches stays in the cluster when it is removed from Git.
func keep(s subject) {
	cached := map[string]bool{} // the namespaces that have objects of the operator's kinds
	for _, o := range s.Objects() {
		for _, kind := range s.builder.Operator {
			cached[o.Namespace] = cached[o.Namespace] || o.Is(kind.Group, kind.Kind)
		}
	}
	each(func(s subject, o tree.Object) {
		loss := ""
		switch {
		case o.Is("apiextensions.k8s.io", "CustomResourceDefinition"):
			loss = "every object of its kind"
		case o.Is("", "Namespace") && cached[o.GetName()]:
			loss = "the caches in it"
		case o.Is(tree.OLMv1, "ClusterExtension") && s.builder.Installs(o):
			loss = "its CRD and all caches"
		}
		if loss != "" && len(o.Keep()) < 2 {
			s.refuse(o, "annotate it with argocd.argoproj.io/sync-options: Prune=false,Delete=false",
				" would be deleted when it is removed from Git, or when its Application is deleted. "+
					"This would also delete %s", loss)
		}
	})(s)
}

// projects: each AppProject is valid, is used, and names everything that it permits, without wildcards.
func projects(s subject) {
	used := map[string]bool{}
	names := slices.Sorted(maps.Keys(s.Projects))
	for _, app := range s.All() {
		used[app.Spec.Project] = true
		if s.Projects[app.Spec.Project] == nil {
			s.fail(app.Manifest.File, app.Name, "name one of "+strings.Join(names, ", "),
				"spec.project is %q, an AppProject that %s does not have", app.Spec.Project, s.Bootstrap)
		}
	}
	for name, project := range s.Projects {
		fail := func(fix, format string, args ...any) {
			s.fail(s.fileOf(name), "", fix, "AppProject %s %s", name, fmt.Sprintf(format, args...))
		}
		if spec := project.Spec; name != v1alpha1.DefaultAppProjectName {
			permitted(project, fail)
		} else if len(spec.SourceRepos)+len(spec.Destinations)+len(spec.ClusterResourceWhitelist) > 0 {
			fail("empty its lists", "permits something to every Application that names it")
		}
		if !used[name] && name != v1alpha1.DefaultAppProjectName {
			fail("remove it from "+s.Bootstrap, "is the project of no Application")
		}
		if project.Namespace != s.Settings["argocdNamespace"] {
			fail(bySettings, "is in namespace %q, which Argo CD does not watch", project.Namespace)
		}
	}
}

// permitted: an AppProject names everything that it permits, in a form that Argo CD accepts.
func permitted(project *v1alpha1.AppProject, fail func(fix, format string, args ...any)) {
	const fix = "name just what its Applications need"
	if err := project.ValidateProject(); err != nil {
		fail(fix, "is invalid: %v", err)
	}
	if len(project.Spec.NamespaceResourceWhitelist) == 0 {
		fail(fix, "has no namespaceResourceWhitelist, so it permits every kind")
	}
	named := slices.Concat(project.Spec.SourceRepos, project.Spec.SourceNamespaces)
	for _, d := range project.Spec.Destinations {
		named = append(named, d.Server, d.Name, d.Namespace)
	}
	for _, kind := range slices.Concat(project.Spec.ClusterResourceWhitelist, project.Spec.NamespaceResourceWhitelist) {
		named = append(named, kind.Group, kind.Kind)
	}
	for _, text := range named {
		if strings.ContainsAny(text, "*?[{") {
			fail(fix, "has a wildcard in %q", text)
		}
	}
}

func (s subject) fileOf(project string) string {
	for _, o := range s.ByHand.Objects {
		if o.GroupVersionKind() == tree.ProjectKind && o.GetName() == project {
			return o.File
		}
	}
	return s.Bootstrap
}

// permissions: the AppProject of each Application permits the Application and its objects.
func permissions(s subject) {
	for _, app := range s.All() {
		project, source, to := s.Projects[app.Spec.Project], app.Spec.GetSource(), app.Spec.Destination
		if project == nil {
			continue
		}
		refuse := func(file, what, format string, args ...any) {
			s.fail(file, app.Name, "add it in "+s.fileOf(project.Name), "AppProject %s does not permit %s: %s",
				project.Name, what, fmt.Sprintf(format, args...))
		}
		if !project.IsSourcePermitted(source) {
			refuse(app.Manifest.File, "it", "the source %s is not in its sourceRepos", source.RepoURL)
		}
		if !permits(project, to) {
			refuse(app.Manifest.File, "it", "the destination, namespace %q of %s, is not in its destinations",
				to.Namespace, cmp.Or(to.Server, to.Name))
		}
		for _, o := range app.Objects {
			kind := o.GroupVersionKind().GroupKind()
			to.Namespace = o.Namespace
			switch {
			case !o.Known: // without the scope, the list that has to name the kind is unknown
			case !project.IsGroupKindPermitted(kind, o.Namespaced):
				list := map[bool]string{true: "namespaceResourceWhitelist", false: "clusterResourceWhitelist"}[o.Namespaced]
				refuse(o.Place(), o.String(), "its %s does not have {group: %q, kind: %s}", list, kind.Group, kind.Kind)
			case o.Namespaced && !permits(project, to):
				refuse(o.Place(), o.String(), "its destinations do not have the namespace %q of %s",
					to.Namespace, cmp.Or(to.Server, to.Name))
			}
		}
	}
}

func permits(project *v1alpha1.AppProject, to v1alpha1.ApplicationDestination) bool {
	permitted, err := project.IsDestinationPermitted(to, func(string) ([]*v1alpha1.Cluster, error) {
		return nil, errors.New("no clusters are known") // called only if an AppProject permits only clusters of the project
	})
	return err == nil && permitted
}
