package check

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// OperatorNamespace is where the operator is.
const OperatorNamespace = "memcached-operator-system"

const (
	operatorName = "memcached-operator"
	managerName  = "memcached-operator-controller-manager"
	memcachedCRD = "memcacheds.cache.example.com"

	// OLM v1 marks what it made by these labels.
	ownerKindV1 = "olm.operatorframework.io/owner-kind"
	ownerKindV0 = "olm.owner.kind"
)

// installer is who installed an operator that is there.
type installer string

const (
	nobody    installer = ""
	byHand    installer = "by hand or by a tool"
	byArgoCD  installer = "by Argo CD's Application memcached-operator"
	byOLM     installer = "by OLM v0"
	byOLMv1   installer = "by OLM v1"
	byOurOLM  installer = "by OLM v0, for Argo CD's Application memcached-operator"
	byOurOLM1 installer = "by OLM v1, for Argo CD's Application memcached-operator"
)

// installers are those that a way goes on with.
var installers = map[target.Way]installer{
	target.Direct: byArgoCD, target.OLM: byOurOLM, target.OpenShift: byOurOLM, target.OLMv1: byOurOLM1,
}

var removals = map[installer]string{
	byHand:    "make undeploy, if make deploy installed it (docs/install.md, Uninstall)",
	byArgoCD:  "kubectl -n %s delete application memcached-root: the caches in Git go with it (docs/gitops.md, Delete)",
	byOurOLM:  "kubectl -n %s delete application memcached-root: the caches in Git go with it (docs/gitops.md, Delete)",
	byOurOLM1: "docs/gitops.md, Delete. Whoever deletes the ClusterExtension deletes every Memcached of the cluster",
	byOLM:     "docs/olm.md, Uninstall",
	byOLMv1:   "docs/olm.md, OLM v1. Whoever deletes the ClusterExtension deletes every Memcached of the cluster",
}

// operator finds operators that are there already: two of them would fight for the same Memcacheds.
func operator(ctx context.Context, s *Subject) Result {
	deployments, err := s.list(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		client.MatchingFields{"metadata.name": managerName})
	if err != nil {
		return failed(err.Error(), "ask for the right to list Deployments")
	}
	for _, deployment := range deployments {
		by, err := s.installerOf(ctx, deployment)
		if err != nil {
			return failed(err.Error(), "ask for the right to read Subscriptions and ClusterExtensions")
		}
		if result := s.judge(deployment.Namespace, by); result.Status != Passed {
			return result
		}
	}
	if len(deployments) > 0 {
		return passed("there already, " + string(installers[s.Way]) + ": it goes on with that")
	}
	return s.leftover(ctx)
}

// judge says what an operator that is there means for the way.
func (s *Subject) judge(namespace string, by installer) Result {
	found := fmt.Sprintf("one runs in %s, installed %s", namespace, by)
	remedy := removals[by]
	if strings.Contains(remedy, "%s") {
		remedy = fmt.Sprintf(remedy, s.ArgoCDNamespace)
	}
	switch {
	case namespace == OperatorNamespace && by == installers[s.Way]:
		return passed(found)
	case namespace == OperatorNamespace && by == byHand && s.Way == target.Direct:
		return warning(found, "Argo CD takes it over as it is; deleting the root Application will delete it")
	case s.Way == target.OLMv1 && (by == byOLM || by == byOurOLM):
		return failed(found, "OLM v1 installs nothing that somebody else made, so OLM v0 and v1 exclude each other for one "+
			"operator. Remove it first: "+remedy)
	}
	return failed(found, "two operators would fight for the same Memcacheds. Remove it first: "+remedy)
}

// installerOf goes by the marks that installers leave on the operator's Deployment.
func (s *Subject) installerOf(ctx context.Context, deployment metav1.PartialObjectMetadata) (installer, error) {
	switch {
	case deployment.Labels[ownerKindV1] == extensionKind.Kind:
		return s.ours(ctx, extensionKind, "", byOLMv1, byOurOLM1)
	case deployment.Labels[ownerKindV0] == "ClusterServiceVersion":
		return s.ours(ctx, subscriptionKind, deployment.Namespace, byOLM, byOurOLM)
	case trackedBy(&deployment) == operatorName:
		return byArgoCD, nil
	}
	return byHand, nil
}

// ours tells whether what made OLM install the operator is in Argo CD's hands.
func (s *Subject) ours(
	ctx context.Context, kind schema.GroupVersionKind, namespace string, no, yes installer,
) (installer, error) {
	cause, err := s.find(ctx, kind, namespace, operatorName)
	if err != nil || cause == nil || trackedBy(cause) != operatorName {
		return no, err
	}
	return yes, nil
}

// leftover tells of the CRD of an operator that is gone.
func (s *Subject) leftover(ctx context.Context) Result {
	crd, err := s.definition(ctx, memcachedCRD)
	switch {
	case err != nil:
		return failed(err.Error(), "ask for the right to read CustomResourceDefinitions")
	case crd == nil:
		return passed("not there yet")
	case s.Way == target.OLMv1 && crd.Labels[ownerKindV1] == "":
		return failed("its CRD is there, and OLM v1 did not make it",
			"OLM v1 installs nothing that somebody else made. kubectl delete crd "+memcachedCRD+
				" makes room, and deletes every Memcached of the cluster (docs/olm.md, From OLM v0 to OLM v1)")
	}
	return passed("not there; its CRD is, and is taken over")
}

// memcacheds counts the caches that the operator will find.
func memcacheds(ctx context.Context, s *Subject) Result {
	all, err := s.list(ctx, schema.GroupVersionKind{Group: "cache.example.com", Version: "v1", Kind: "Memcached"})
	if err != nil {
		return failed(err.Error(), "ask for the right to list Memcacheds")
	}
	namespaces, n := map[string]bool{}, 0
	for _, mc := range all {
		if trackedBy(&mc) != Namespace { // The Application of the samples is called like their namespace.
			namespaces[mc.Namespace] = true
			n++
		}
	}
	if n == 0 {
		return passed("none but those of the demo")
	}
	return warning(fmt.Sprintf("%d in %d namespaces", n, len(namespaces)), "this operator will take care of them, too")
}

// application looks at the root Application of an earlier run, and tries the one of this.
func application(ctx context.Context, s *Subject) Result {
	var err error
	if s.Bootstrap, err = s.render(s.Way.RootFolder()); err != nil {
		return failed(err.Error(), "make gitops-verify tells more")
	}
	remove := fmt.Sprintf("kubectl -n %s delete application %s", s.ArgoCDNamespace, argo.Root)
	there, err := argo.Read(ctx, s.Kube.Client, s.ArgoCDNamespace, argo.Root)
	switch {
	case err != nil:
		return failed(err.Error(), "ask for the right to read Applications in "+s.ArgoCDNamespace)
	case there != nil && there.Deleting:
		return failed("it is being deleted", "wait until it is gone: kubectl -n "+s.ArgoCDNamespace+" get applications -w")
	case there != nil && !s.same(there):
		return failed(fmt.Sprintf("it is there, and follows %s of %s at %s", there.Path, there.Repo, there.Target),
			"give this demo the same, or, if nobody needs what it installed, remove it: "+remove+
				". The caches in its Git go with it")
	}
	if err := argo.Try(ctx, s.Kube.Client, s.Bootstrap); err != nil {
		return failed(s.conflict(err, "whoever set it must let it go, or remove it: "+remove))
	}
	if there != nil {
		return passed("there already, it goes on with that")
	}
	return passed("not there yet; the API server would take it")
}

// same tells whether the root Application follows what this demo is told.
func (s *Subject) same(there *argo.Application) bool {
	return there.Repo == s.Repo && there.Target == s.Revision &&
		there.Path == "gitops/apps/overlays/"+string(s.Way)
}
