package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/onsi/gomega"
	policyv1 "k8s.io/api/policy/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestTheLogHasALineForEverythingDoneToACache: the log has a line for each event, because events are deleted after an
// hour.
func TestTheLogHasALineForEverythingDoneToACache(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	w.patchSpec(`{"size":3}`)
	w.logs("Scaled")
	w.ready("cache")
	w.patchSpec(`{"suspend":true}`)
	w.logs("Suspended")
	w.patchSpec(`{"suspend":false}`)
	w.logs("Resumed")
	w.changedBy("kubectl-edit", &policyv1.PodDisruptionBudget{}, `{"spec":{"maxUnavailable":2}}`)
	w.logs("DriftCorrected")
	w.patchSpec(`{"size":1}`)
	w.logs("Deleted")
	w.ready("cache")

	for _, reason := range []string{"Created", cachev1.ReasonAllPodsReady, "Scaled", "Suspended", "DriftCorrected", "Deleted"} {
		lines := w.linesOf(reason)
		if len(lines) == 0 || lines[0]["namespace"] != w.namespace || lines[0]["name"] != "cache" || lines[0]["level"] != "info" {
			t.Errorf("lines of the event %s: %v", reason, lines)
		}
	}
	log := w.readLog()
	w.Consistently(w.readLog).WithTimeout(2*time.Second).Should(gomega.Equal(log), "at rest nothing is logged")
}

// logs waits for a line about an event.
func (w *world) logs(reason string) {
	w.t.Helper()
	w.Eventually(func() []map[string]any { return w.linesOf(reason) }).ShouldNot(gomega.BeEmpty(), reason)
}

// linesOf returns the lines of the operator's log about an event.
func (w *world) linesOf(reason string) (found []map[string]any) {
	w.t.Helper()
	for line := range bytes.Lines([]byte(w.readLog())) {
		parsed := map[string]any{}
		if json.Unmarshal(line, &parsed) == nil && parsed["event"] == reason {
			found = append(found, parsed)
		}
	}
	return found
}

func (w *world) readLog() string {
	w.t.Helper()
	content, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return string(content)
}
