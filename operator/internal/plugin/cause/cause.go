// Package cause finds out why a cache is in its state: it follows the cause from a condition to the Pod, to the Node
// and to the lines of the log. It is pure.
package cause

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

// Evidence is what a user may read of a cache and of the Pod that is the cause.
type Evidence struct {
	access.Observed

	// Testimony is about the Pod that is the likely cause (Suspect), and Bootstrap about the Pod that copies the keys of
	// other servers.
	Testimony

	Bootstrap Testimony
}

// Testimony has the events and the log of a Pod.
type Testimony struct {
	// PodEvents are the events about the Pod.
	PodEvents []corev1.Event

	// Log is the end of the log of the Pod's container; LogErr is why that log cannot be read.
	Log    string
	LogErr error
}

// Explanation says why a cache is in its state, and what to do.
type Explanation struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Chains    []Chain  `json:"chains"`
	Next      []Advice `json:"next"`
	Unread    []string `json:"unread,omitempty"`
}

// Chain leads from a condition to its cause.
type Chain struct {
	Condition string     `json:"condition"`
	Status    string     `json:"status"`
	Reason    string     `json:"reason"`
	Since     *time.Time `json:"since,omitempty"`
	Links     []Link     `json:"links"`
}

// Link is a step of a chain: an object or a log, and what it says.
type Link struct {
	Object string `json:"object"`
	Says   string `json:"says"`
}

// Explain returns the chains of all conditions that need an explanation. The condition Ready always needs one.
func Explain(e Evidence) Explanation {
	mc := e.Memcached
	explanation := Explanation{Namespace: mc.Namespace, Name: mc.Name, Unread: e.Unread}
	summary := overview.SummaryOf(mc)
	chain := Chain{Condition: cachev1.ConditionReady, Status: "Unknown", Reason: summary.Reason, Since: summary.Since}
	if ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady); ready != nil {
		chain.Status = string(ready.Status)
	}
	chain.Links = append([]Link{{"Memcached " + mc.Name, summary.Message}}, linksOf(e)...)
	explanation.Chains = []Chain{chain}
	asked := []overview.Waiting{{Reason: summary.Reason, Message: summary.Message}}
	if mc.Spec.Suspend && summary.Reason != cachev1.ReasonSuspended {
		explanation.Chains = append(explanation.Chains, Chain{Condition: "spec.suspend", Status: "true", Links: []Link{{
			"Memcached " + mc.Name, "it is paused: until you run kubectl memcached resume, " +
				"the operator changes nothing, and gives no lost slot to another Pod",
		}}})
		asked = append(asked, overview.Waiting{Reason: cachev1.ReasonSuspended})
	}
	for _, waiting := range overview.WaitsOf(mc) {
		explanation.Chains = append(explanation.Chains, chainOf(e, waiting))
		asked = append(asked, waiting)
	}
	explanation.Chains = append(explanation.Chains, slotChains(e)...)
	explanation.Next = append(next(e, asked), slotAdvice(e)...)
	return explanation
}

// chainOf returns the chain of a condition whose message already has the cause. The chain of a bootstrap leads to the
// Pod that copies keys.
func chainOf(e Evidence, waiting overview.Waiting) Chain {
	mc := e.Memcached
	chain := Chain{
		Condition: waiting.Condition, Reason: waiting.Reason,
		Links: []Link{{"Memcached " + mc.Name, waiting.Message}},
	}
	if condition := meta.FindStatusCondition(mc.Status.Conditions, waiting.Condition); condition != nil {
		chain.Status, chain.Since = string(condition.Status), new(condition.LastTransitionTime.UTC())
	}
	pod, _, found := BootstrapSuspect(e.Observed)
	if found && waiting.Condition == cachev1.ConditionBootstrapped && waiting.Reason != cachev1.ReasonBootstrapFollowing {
		chain.Links = append(chain.Links, podLinks(e.Nodes, pod, e.Bootstrap)...)
	}
	return chain
}

// linksOf returns the links from the Deployment to the log. A cache whose Pods are ready has none.
func linksOf(e Evidence) []Link {
	links := deploymentLinks(e.Deployment)
	pod, _, found := Suspect(e.Observed)
	if !found {
		return links
	}
	return append(links, podLinks(e.Nodes, pod, e.Testimony)...)
}

// podLinks returns the links from a Pod to its log.
func podLinks(nodes map[string]corev1.Node, pod *corev1.Pod, t Testimony) []Link {
	says := overview.StatusOf(pod)
	if problem := observe.ProblemOf(pod); problem != "" {
		says += ": " + problem
	}
	links := []Link{{"Pod " + pod.Name, says}}
	if pod.Spec.NodeName != "" {
		links = append(links, nodeLink(nodes, pod.Spec.NodeName))
	}
	if warning := lastWarning(t.PodEvents); warning != nil && !strings.Contains(says, observe.OneLine(warning.Message)) {
		links = append(links, Link{"Event " + warning.Reason, observe.OneLine(warning.Message)})
	}
	return append(links, logLinks(t, pod)...)
}

// deploymentLinks returns links that state why Pods cannot be created, or why they are not replaced.
func deploymentLinks(deployment *appsv1.Deployment) []Link {
	if deployment == nil {
		return nil
	}
	var links []Link
	for _, condition := range deployment.Status.Conditions {
		failed := condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue
		late := condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse
		if failed || late {
			links = append(links, Link{"Deployment " + deployment.Name, observe.OneLine(condition.Message)})
		}
	}
	if deployment.Spec.Paused {
		links = append(links, Link{"Deployment " + deployment.Name, "it is paused, so no Pod is replaced"})
	}
	return links
}

// nodeLink says what is wrong with a Node, or that nothing is wrong.
func nodeLink(nodes map[string]corev1.Node, name string) Link {
	node, known := nodes[name]
	if !known {
		return Link{"Node " + name, "not read: it does not exist, or you have no right to read Nodes"}
	}
	var problems []string
	for _, condition := range node.Status.Conditions {
		isReady := condition.Type == corev1.NodeReady
		if isReady != (condition.Status == corev1.ConditionTrue) {
			problems = append(problems, fmt.Sprintf("%s is %s (%s)", condition.Type, condition.Status, condition.Reason))
		}
	}
	if node.Spec.Unschedulable {
		problems = append(problems, "it is cordoned")
	}
	if len(problems) == 0 {
		return Link{"Node " + name, "it is ready"}
	}
	return Link{"Node " + name, strings.Join(problems, ", ")}
}

// lastWarning returns the last warning, or nil.
func lastWarning(events []corev1.Event) *corev1.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == corev1.EventTypeWarning {
			return &events[i]
		}
	}
	return nil
}

// logLines is how many lines of a log are shown.
const logLines = 3

// logLinks returns a link with the last lines of the log, which usually say why memcached ended.
func logLinks(t Testimony, pod *corev1.Pod) []Link {
	source, hasLog := SourceOf(pod)
	switch {
	case !hasLog:
		return nil
	case t.LogErr != nil:
		return []Link{{source.String(), "not read: " + t.LogErr.Error()}}
	}
	var lines []string
	for line := range strings.Lines(t.Log) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	lines = lines[max(0, len(lines)-logLines):]
	return []Link{{source.String(), strings.Join(lines, "\n")}}
}

// age returns the creation time of an object, to compare ages.
func age(object metav1.Object) int64 { return object.GetCreationTimestamp().Unix() }
