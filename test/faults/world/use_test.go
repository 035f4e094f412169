package world

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/example-inc/memcached-operator/internal/testing/reporting"
	"github.com/example-inc/memcached-operator/test/faults/environment"
)

func TestAnAgentReportsTheUseOfItsPodUnlessAFaultMeetsIt(t *testing.T) {
	pod := func(name, cache, address, memory string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: map[string]string{"memcached_cr": cache}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"--memory-limit=" + memory}}}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address},
		}
	}
	use, other := reporting.Use{Hour: 96, Observed: 86400}, reporting.Use{Hour: 4, Observed: 600}
	const first, second, unused = "10.0.0.1", "10.0.0.2", "10.0.0.3"
	tests := map[string]struct {
		address string
		fault   *ReportFault
		change  reporting.Use
		want    string // empty if the agent does not answer
	}{
		"what its memory says":      {address: second, want: use.Report(128 << 20)},
		"of another use":            {address: second, change: other, want: other.Report(128 << 20)},
		"a fault of another cache":  {address: second, fault: &ReportFault{Cache: "b", Missing: true}, want: use.Report(128 << 20)},
		"a missing one":             {address: second, fault: &ReportFault{Cache: "a", Missing: true}},
		"a damaged one":             {address: second, fault: &ReportFault{Cache: "a", Content: "no JSON"}, want: "no JSON"},
		"one of a former Pod":       {address: second, fault: &ReportFault{Cache: "a", Former: true}, want: use.Report(64 << 20)},
		"a Pod that does not exist": {address: "10.0.0.9"},
		"a cache that nobody uses":  {address: unused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := &World{Namespace: "n", Environment: &environment.Environment{Client: fake.NewClientBuilder().WithObjects(
				pod("a-1", "a", first, "64"), pod("a-2", "a", second, "128"), pod("b-1", "b", unused, "64"),
			).Build()}}
			if err := w.PlayAgents(map[string]reporting.Use{"a": use}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.agents.Stop)
			_, _ = w.report(t.Context(), first)
			if tc.change != (reporting.Use{}) {
				w.SetUse("a", tc.change)
			}
			struck := false
			if tc.fault != nil {
				tc.fault.Struck = func() { struck = true }
				w.BeginReports(tc.fault)
			}
			report, answers := w.report(t.Context(), tc.address)
			if !answers {
				report = ""
			}
			if diff := cmp.Diff(tc.want, report); diff != "" || answers != (tc.want != "") {
				t.Errorf("answers: %t (-want +got):\n%s", answers, diff)
			}
			if met := tc.fault != nil && tc.fault.Cache == "a"; struck != met {
				t.Errorf("the fault struck: %t", struck)
			}
			if tc.fault == nil {
				return
			}
			w.EndReports(tc.fault)
			if report, _ := w.report(t.Context(), second); report != use.Report(128<<20) {
				t.Errorf("after the fault: %s", report)
			}
		})
	}
}
