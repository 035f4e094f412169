package check

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// brought is what a way brings along: a CRD by which it is known, and the namespace of it, which belongs to an
// Application.
type brought struct{ what, crd, namespace, by string }

var (
	broughtOLM   = brought{"OLM", "subscriptions.operators.coreos.com", "olm", "olm"}
	broughtCerts = brought{"cert-manager", "certificates.cert-manager.io", "cert-manager", "cert-manager"}
	broughtOLMv1 = brought{
		"OLM v1", "clusterextensions.olm.operatorframework.io", "olmv1-system", "operator-controller",
	}
)

var broughtBy = map[target.Way][]brought{
	target.OLM:   {broughtOLM},
	target.OLMv1: {broughtCerts, broughtOLMv1},
}

var insteadOf = map[target.Way]string{
	target.OLM:   "choose --method openshift, which is for clusters that have OLM",
	target.OLMv1: "choose another way, or a cluster without it: this way would take it over",
}

// olm finds out whether OLM is there, for the way that needs it, and is not there, for those that bring it.
func olm(ctx context.Context, s *Subject) Result {
	if s.Way == target.OpenShift {
		return s.hasOLM(ctx)
	}
	found := "not there yet"
	for _, part := range broughtBy[s.Way] {
		there, ours, err := s.isThere(ctx, part)
		switch {
		case err != nil:
			return failed(err.Error(), "ask for the right to read CustomResourceDefinitions and Namespaces")
		case there && !ours:
			return failed(part.what+" is there already, and is not of Argo CD's Application "+part.by, insteadOf[s.Way])
		case there:
			found = "there already, of an earlier demo"
		}
	}
	return passed(found + "; Argo CD must be able to fetch releases from github.com")
}

// isThere tells whether something is installed, and whether by the Application of the tree. Argo CD does not mark
// CRDs as its own, but the tree marks those that it brings as not to be deleted.
func (s *Subject) isThere(ctx context.Context, part brought) (there, ours bool, err error) {
	crd, err := s.definition(ctx, part.crd)
	if err != nil || crd == nil {
		return false, false, err
	}
	namespace, err := s.find(ctx, namespaceKind, "", part.namespace)
	if err != nil {
		return true, false, err
	}
	kept := crd.Annotations["argocd.argoproj.io/sync-options"] == keepCRDs
	return true, kept && (namespace == nil || trackedBy(namespace) == part.by), nil
}

// keepCRDs is what gitops/keep-crds writes on each CRD.
const keepCRDs = "Prune=false,Delete=false"

func (s *Subject) hasOLM(ctx context.Context) Result {
	for _, name := range []string{"catalogsources", "operatorgroups", "subscriptions"} {
		crd, err := s.definition(ctx, name+".operators.coreos.com")
		switch {
		case err != nil:
			return failed(err.Error(), "ask for the right to read CustomResourceDefinitions")
		case crd == nil:
			return failed("the CRD "+name+".operators.coreos.com is missing",
				"choose --method olm, which installs OLM")
		}
	}
	_, ours, err := s.isThere(ctx, broughtOLM)
	switch {
	case err != nil:
		return failed(err.Error(), "ask for the right to read Namespaces")
	case ours:
		return failed("OLM is, or was, there by Argo CD's Application olm",
			"choose --method olm, which goes on with it")
	}
	return s.catalogs(ctx)
}

// catalogs looks for one that OLM can't read: then it installs nothing from any of them.
func (s *Subject) catalogs(ctx context.Context) Result {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(catalogKind)
	if err := s.Kube.Client.List(ctx, list); err != nil {
		return failed(err.Error(), "ask for the right to list CatalogSources")
	}
	var unread []string
	for _, catalog := range list.Items {
		state, _, _ := unstructured.NestedString(catalog.Object, "status", "connectionState", "lastObservedState")
		if state != "READY" && catalog.GetNamespace() != OperatorNamespace {
			unread = append(unread, strings.TrimSpace(catalog.GetNamespace()+"/"+catalog.GetName()+" "+state))
		}
	}
	if len(unread) > 0 {
		return warning("there, but it does not read the catalogs "+strings.Join(unread, ", "),
			"while one can't be read, OLM installs nothing from any: kubectl get catalogsource,pods -A; "+
				"correct or remove it")
	}
	return passed("there")
}
