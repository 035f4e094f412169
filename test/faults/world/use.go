package world

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/internal/testing/reporting"
)

// agents answers the operator instead of the agents of Pods, and reports how the caches of a run are used.
type agents struct {
	*reporting.Agents

	mu     sync.Mutex
	uses   map[string]reporting.Use // by cache
	first  map[string]string        // the first report of each cache
	faults []*ReportFault
}

// ReportFault is a fault of the reports of a cache's Pods.
type ReportFault struct {
	Cache string

	Late    time.Duration // how long an agent takes to answer
	Missing bool          // the agent does not answer
	Content string        // the answer instead of the report; empty for the report
	Former  bool          // the agent repeats the first report of the cache

	// Struck is called for each report that the fault affects.
	Struck func()
}

// PlayAgents starts a server that reports how caches are used, if no real agents run. Operators that are started from
// now on read these reports.
func (w *World) PlayAgents(uses map[string]reporting.Use) (err error) {
	w.agents = &agents{uses: map[string]reporting.Use{}, first: map[string]string{}}
	maps.Copy(w.agents.uses, uses)
	w.agents.Agents, err = reporting.Start(w.report)
	if err == nil {
		w.next.Reports = w.agents.URL()
	}
	return err
}

// SetUse makes clients use a cache differently.
func (w *World) SetUse(cache string, use reporting.Use) {
	if w.agents == nil {
		return // PlayAgents was not called, so nothing reports the use.
	}
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	w.agents.uses[cache] = use
}

// BeginReports begins a fault of reports.
func (w *World) BeginReports(f *ReportFault) {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	w.agents.faults = append(w.agents.faults, f)
}

// EndReports ends a fault of reports.
func (w *World) EndReports(f *ReportFault) {
	w.agents.mu.Lock()
	defer w.agents.mu.Unlock()
	w.agents.faults = slices.DeleteFunc(w.agents.faults, func(other *ReportFault) bool { return other == f })
}

// report returns the answer of a Pod's agent, and whether it answers.
func (w *World) report(ctx context.Context, address string) (report string, answers bool) {
	list := &corev1.PodList{}
	if w.Client.List(ctx, list, client.InNamespace(w.Namespace)) != nil {
		return "", false // The API server may have been stopped.
	}
	i := slices.IndexFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.Status.PodIP == address && pod.Status.Phase == corev1.PodRunning
	})
	if i < 0 {
		return "", false
	}
	cache := list.Items[i].Labels["memcached_cr"]
	report, fault := w.agents.of(cache, kubelet.ItemMemory(&list.Items[i]))
	if fault == nil {
		return report, report != ""
	}
	fault.Struck()
	rest(ctx, fault.Late)
	return report, report != "" && !fault.Missing
}

// rest waits.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// of returns the report of a Pod with this memory, and the fault that affects it, if any.
func (a *agents) of(cache string, memory int64) (report string, fault *ReportFault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	use, used := a.uses[cache]
	if !used {
		return "", nil
	}
	report = use.Report(memory)
	if a.first[cache] == "" {
		a.first[cache] = report
	}
	i := slices.IndexFunc(a.faults, func(f *ReportFault) bool { return f.Cache == cache })
	if i < 0 {
		return report, nil
	}
	fault = a.faults[i]
	switch {
	case fault.Former:
		report = a.first[cache]
	case fault.Content != "":
		report = fault.Content
	}
	return report, fault
}
