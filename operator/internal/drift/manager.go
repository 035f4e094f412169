package drift

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagerKind is a kind of author for which there is a fix of its own.
type ManagerKind string

const (
	// Nobody left no trace.
	Unknown ManagerKind = ""

	// Somebody is a manager of whom no more is known than the name.
	Other ManagerKind = "Somebody"

	// ArgoCD has the object itself in an Application, and not only the Memcached.
	ArgoCD ManagerKind = "ArgoCD"

	// Autoscaler scales the Deployment, as a HorizontalPodAutoscaler does that names it.
	HorizontalAutoscaler ManagerKind = "HorizontalAutoscaler"

	// VerticalAutoscaler sets the resources of containers, as a VerticalPodAutoscaler does.
	VerticalAutoscaler ManagerKind = "VerticalAutoscaler"

	// Manual is a person with kubectl, oc or a web console.
	Manual ManagerKind = "Manual"

	// Operator is another operator like this one, or an admission webhook, which writes in the name of whom it admits.
	Operator ManagerKind = "Operator"
)

func kindOf(drift Drift, live metav1.Object) ManagerKind {
	author := Author{}
	if drift.Author != nil {
		author = *drift.Author
	}
	switch {
	case author.isOperator():
		return Operator
	case strings.HasPrefix(author.Manager, "argocd"):
		return ArgoCD
	case author.Manager == "kubectl-client-side-apply" && isInApplication(live): // What Argo CD applies with.
		return ArgoCD
	case isManual(author.Manager):
		return Manual
	case author.Subresource == "scale":
		return HorizontalAutoscaler
	case strings.Contains(drift.Field, "].resources"):
		return VerticalAutoscaler
	case isInApplication(live):
		return ArgoCD
	case drift.Author != nil:
		return Other
	}
	return Unknown
}

// isManual knows the tools of people. A manager that names itself otherwise is called by its program's name, which for
// a web console is that of the browser.
func isManual(manager string) bool {
	program, _, _ := strings.Cut(manager, "-")
	return slices.Contains([]string{"kubectl", "oc", "k9s", "Mozilla"}, program)
}

// isInApplication tells whether an object carries what Argo CD finds its own objects by.
func isInApplication(live metav1.Object) bool {
	const instance, tracking = "argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id"
	return live.GetLabels()[instance] != "" || live.GetAnnotations()[instance] != "" ||
		live.GetAnnotations()[tracking] != ""
}
