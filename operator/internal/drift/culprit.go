package drift

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Culprit is a kind of author for which there is a remedy of its own.
type Culprit string

const (
	// Nobody left no trace.
	Nobody Culprit = ""

	// Somebody is a manager of whom no more is known than the name.
	Somebody Culprit = "Somebody"

	// ArgoCD has the object itself in an Application, and not only the Memcached.
	ArgoCD Culprit = "ArgoCD"

	// Autoscaler scales the Deployment, as a HorizontalPodAutoscaler does that names it.
	Autoscaler Culprit = "Autoscaler"

	// Sizer sets the resources of containers, as a VerticalPodAutoscaler does.
	Sizer Culprit = "Sizer"

	// ByHand is a person with kubectl, oc or a web console.
	ByHand Culprit = "ByHand"

	// Us is another operator like this one, or an admission webhook, which writes in the name of whom it admits.
	Us Culprit = "Us"
)

func recognize(drift Drift, live metav1.Object) Culprit {
	author := Author{}
	if drift.Author != nil {
		author = *drift.Author
	}
	switch {
	case author.isUs():
		return Us
	case strings.HasPrefix(author.Manager, "argocd"):
		return ArgoCD
	case author.Manager == "kubectl-client-side-apply" && isInApplication(live): // What Argo CD applies with.
		return ArgoCD
	case isByHand(author.Manager):
		return ByHand
	case author.Subresource == "scale":
		return Autoscaler
	case strings.Contains(drift.Field, "].resources"):
		return Sizer
	case isInApplication(live):
		return ArgoCD
	case drift.Author != nil:
		return Somebody
	}
	return Nobody
}

// isByHand knows the tools of people. A manager that names itself otherwise is called by its program's name, which for
// a web console is that of the browser.
func isByHand(manager string) bool {
	program, _, _ := strings.Cut(manager, "-")
	return slices.Contains([]string{"kubectl", "oc", "k9s", "Mozilla"}, program)
}

// isInApplication tells whether an object carries what Argo CD finds its own objects by.
func isInApplication(live metav1.Object) bool {
	const instance, tracking = "argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id"
	return live.GetLabels()[instance] != "" || live.GetAnnotations()[instance] != "" ||
		live.GetAnnotations()[tracking] != ""
}
