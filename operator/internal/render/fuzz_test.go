package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// FuzzAnyPlanGivesObjects: the objects that are rendered from a spec consist of fields that Kubernetes knows, select
// the Pods of their own cache, request no more than their limits, and stay the same when they are rendered again while
// the Deployment exists.
func FuzzAnyPlanGivesObjects(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	defaults := plan.Defaults{Revisions: Revisions(), Image: "memcached:1", AgentImage: "agent:1", Platform: plan.Kubernetes}
	f.Fuzz(func(t *testing.T, data []byte) {
		mc := arbitrary.Memcached(arbitrary.Filler(data))
		planned, err := computed(mc, plan.Current{SecretsUsable: true}, defaults)
		if err != nil {
			return
		}
		service, deployment, budget := &corev1.Service{}, &appsv1.Deployment{}, &policyv1.PodDisruptionBudget{}
		kinds := map[string]any{
			"Service": service, "Deployment": deployment, "PodDisruptionBudget": budget,
			"NetworkPolicy": &networkingv1.NetworkPolicy{}, "Secret": &corev1.Secret{},
			"Certificate": &certmanager.Certificate{},
		}
		for i, text := range encoded(t, objectsOf(planned)) {
			into := kinds[objectsOf(planned)[i].Kind]
			if strings.Contains(text, `"name":"`+names.DiscoveryService(planned.Name)+`"`) {
				into = &corev1.Service{}
			}
			decodeStrictly(t, text, into)
		}
		selectsItsPods(t, service, deployment, budget)
		for _, container := range deployment.Spec.Template.Spec.Containers {
			requestsNoMoreThanItsLimits(t, container.Resources)
		}
		if err := memcached.CheckArguments(planned.Memcached.ExtraArguments); err != nil {
			t.Errorf("arguments that are refused got through: %v", err)
		}
		later, err := computed(mc, plan.Current{Deployment: deployment, SecretsUsable: true}, defaults)
		then := Objects(later, Template{configuration: rendered(later.Pod)}, deployment)
		if diff := cmp.Diff(encoded(t, objectsOf(planned)), encoded(t, then)); diff != "" {
			t.Errorf("what is there is rendered otherwise (-first +then): %v\n%s", err, diff)
		}
	})
}

func encoded(t *testing.T, objects []Object) []string {
	t.Helper()
	var texts []string
	for _, object := range objects {
		text, err := json.Marshal(object.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

func decodeStrictly(t *testing.T, text string, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

func selectsItsPods(
	t *testing.T, service *corev1.Service, deployment *appsv1.Deployment, budget *policyv1.PodDisruptionBudget,
) {
	t.Helper()
	pods := labels.Set(deployment.Spec.Template.Labels)
	selectors := []*metav1.LabelSelector{deployment.Spec.Selector, {MatchLabels: service.Spec.Selector}}
	if budget.Name != "" {
		selectors = append(selectors, budget.Spec.Selector)
	}
	for _, selector := range selectors {
		matches, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || matches.Empty() || !matches.Matches(pods) {
			t.Errorf("%v does not select %v: %v", selector, pods, err)
		}
	}
}

func requestsNoMoreThanItsLimits(t *testing.T, resources corev1.ResourceRequirements) {
	t.Helper()
	for name, limit := range resources.Limits {
		if request, there := resources.Requests[name]; there && request.Cmp(limit) > 0 {
			t.Errorf("%s: requests %s of at most %s", name, &request, &limit)
		}
	}
	if resources.Limits.Memory().IsZero() {
		t.Errorf("there is no memory limit: %+v", resources)
	}
}
