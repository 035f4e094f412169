package drift

// Recognizes field managers for which there is a specific fix.

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagerKind is a kind of field manager, with its own fix for drift.
type ManagerKind string

const (
	// Unknown means that the managed fields record no client.
	Unknown ManagerKind = ""

	// Other means that only the manager's name is known.
	Other ManagerKind = "Other"

	// ArgoCD means that the object itself is in an Application, and not only the Memcached.
	ArgoCD ManagerKind = "ArgoCD"

	// HorizontalAutoscaler is a client that scales the Deployment, as a HorizontalPodAutoscaler does.
	HorizontalAutoscaler ManagerKind = "HorizontalAutoscaler"

	// VerticalAutoscaler is a client that sets the resources of containers, as a VerticalPodAutoscaler does.
	VerticalAutoscaler ManagerKind = "VerticalAutoscaler"

	// Manual is a person with kubectl, oc or a web console.
	Manual ManagerKind = "Manual"

	// Operator is another instance of this operator, or an admission webhook: its changes are recorded under the name
	// of the client whose request it changes.
	Operator ManagerKind = "Operator"

	// Admission is a mutating admission policy or webhook that reverts the operator's values before they are stored.
	Admission ManagerKind = "Admission"
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
	case author.Manager == "kubectl-client-side-apply" && isInApplication(live): // Argo CD's name for client-side apply.
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

// isManual recognizes the tools of people. A client that sets no field manager is recorded with the name of its
// program, which is the browser for a web console.
func isManual(manager string) bool {
	program, _, _ := strings.Cut(manager, "-")
	return slices.Contains([]string{"kubectl", "oc", "k9s", "Mozilla"}, program)
}

// isInApplication reports whether an object has the label or annotation with which Argo CD tracks its objects.
func isInApplication(live metav1.Object) bool {
	const instance, tracking = "argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id"
	return live.GetLabels()[instance] != "" || live.GetAnnotations()[instance] != "" ||
		live.GetAnnotations()[tracking] != ""
}
