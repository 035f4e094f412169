package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/resource"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// whole: nothing of the tree is missing, and all of it is what Argo CD's types allow.
func whole(s subject) {
	for _, fault := range s.Faults {
		s.fail(fault.File, fault.Application, fault.Text, fault.Remedy)
	}
}

const policyFile = "gitops/apps/policy/policy.yaml"

// partOf is the label by which the health check of Applications knows those of this tree.
const partOf, partOfValue = "app.kubernetes.io/part-of", "memcached-operator"

// applications: each of them is synced, compared and deleted as gitops/apps/policy has it, from where the settings say.
func applications(s subject) {
	for _, app := range s.All() {
		for _, need := range needs(app, s) {
			if !need.met {
				s.fail(app.Manifest.File, app.Name, need.text, need.remedy)
			}
		}
	}
}

// outlives are Applications whose deletion leaves what they installed, as the overlays have it: without OLM nobody
// would be left to remove what OLM made.
var outlives = []string{"olm"}

type need struct {
	met          bool
	text, remedy string
}

func needs(app *tree.App, s subject) []need {
	policy := app.Spec.SyncPolicy
	if policy == nil {
		policy = &v1alpha1.SyncPolicy{}
	}
	source := app.Spec.GetSource()
	byPolicy := "take it from " + policyFile + " by the component gitops/apps/policy"
	bySettings := "let the component gitops/settings write it"
	return []need{
		{policy.Retry != nil && policy.Retry.Limit != 0 && policy.Retry.Backoff != nil,
			"has no spec.syncPolicy.retry with a limit and a backoff, so that a failed sync is the last", byPolicy},
		{policy.Automated != nil && policy.Automated.Prune && policy.Automated.SelfHeal,
			"has no spec.syncPolicy.automated with prune and selfHeal, so that the cluster does not follow Git", byPolicy},
		{policy.SyncOptions.HasOption(common.SyncOptionServerSideApply),
			"lacks the sync option ServerSideApply=true, without which large CRDs can't be applied", byPolicy},
		{!policy.SyncOptions.HasOption(common.SyncOptionReplace),
			"has the sync option Replace=true, which deletes what others wrote", "remove it"},
		{resource.HasAnnotationOption(app.Manifest, "argocd.argoproj.io/compare-options", "ServerSideDiff=true"),
			"lacks the annotation argocd.argoproj.io/compare-options: ServerSideDiff=true", byPolicy},
		{app.CascadedDeletion() || slices.Contains(outlives, app.Name),
			"lacks the finalizer " + v1alpha1.ResourcesFinalizerName +
				", so that its deletion leaves what it installed", byPolicy},
		{app.Labels[partOf] == partOfValue,
			fmt.Sprintf("lacks the label %s: %s, by which its health check knows it", partOf, partOfValue), byPolicy},
		{len(app.Spec.Sources) == 0, "has spec.sources", "name one spec.source: the tree is one repository"},
		{source.RepoURL == s.Settings.RepoURL,
			fmt.Sprintf("spec.source.repoURL is %q, in the settings it is %q", source.RepoURL, s.Settings.RepoURL), bySettings},
		{source.TargetRevision == s.Settings.Revision,
			fmt.Sprintf("spec.source.targetRevision is %q, in the settings it is %q", source.TargetRevision,
				s.Settings.Revision), bySettings},
		{app.Namespace == s.Settings.ArgoCDNamespace,
			fmt.Sprintf("is in namespace %q, where Argo CD, in %q, does not look", app.Namespace,
				s.Settings.ArgoCDNamespace), bySettings},
	}
}

// waves: what Argo CD can't read as a wave it takes as 0, and says nothing.
func waves(s subject) {
	for app, o := range s.Objects() {
		text, found := o.GetAnnotations()[common.AnnotationSyncWave]
		if _, err := strconv.Atoi(text); found && err != nil {
			s.fail(at(o), app.Name, fmt.Sprintf("%s: the wave %q is no number", o, text), "write a number in quotes")
		}
	}
}

// schemas: the API server takes what is ours as it is written.
func schemas(s subject) {
	for app, o := range s.Objects() {
		if o.Source != "" {
			continue
		}
		for _, text := range s.schemas.Faults(o.Unstructured) {
			s.fail(at(o), app.Name, fmt.Sprintf("%s: %s", o, text), "correct or remove the field")
		}
	}
}

// owners: an object that two Applications have would be changed back and forth.
func owners(s subject) {
	owner := map[string]*tree.App{}
	for app, o := range s.Objects() {
		if other, taken := owner[o.Key()]; taken {
			s.fail(at(o), app.Name, fmt.Sprintf("%s is the object of Application %s, too", o, other.Name),
				"remove one of them")
		}
		owner[o.Key()] = app
	}
}

// leftovers: what the tree writes where another value belongs, so that it is seen if none comes.
func leftovers(s subject) {
	for _, o := range s.ByHand {
		leftover(s, "", o)
	}
	for app, o := range s.Objects() {
		leftover(s, app.Name, o)
	}
}

// stubs are those values.
var stubs = []string{"from-settings", "from-overlay", "from-health", "from-console-oidc"}

const stubRemedy = "a replacement, in gitops/settings or beside the file, has to fill it"

func isStub(text string) bool {
	return slices.ContainsFunc(stubs, func(stub string) bool { return strings.Contains(text, stub) })
}

func leftover(s subject, application string, o tree.Object) {
	walk(o.Unstructured.Object, "", func(path, text string) {
		if isStub(text) {
			s.fail(at(o), application, fmt.Sprintf("%s: %s is still %q", o, path, text), stubRemedy)
		}
	})
}

// walk visits each text of an object.
func walk(value any, path string, visit func(path, text string)) {
	switch value := value.(type) {
	case string:
		visit(strings.TrimPrefix(path, "."), value)
	case []any:
		for i, item := range value {
			walk(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case map[string]any:
		for key, item := range value {
			walk(item, path+"."+key, visit)
		}
	}
}
