package integration

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/model"
)

// record records the history of the namespace, for judge.
func (w *world) record() {
	w.t.Helper()
	log, user := namespaceLog{audit, w.namespace}, operatorUser
	if w.kubeconfig == clusterKubeconfig {
		user = clusterOperatorUser
	}
	var err error
	// The recorder must outlive the context of the test, which ends before the cleanup.
	w.recorder, err = history.Start(context.WithoutCancel(w.ctx), config, log, w.namespace, user)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.began = time.Now()
}

// entriesOfAViolation is how many entries before a violation are printed.
const entriesOfAViolation = 20

// allow makes judge ignore rules that a test violates on purpose.
func (w *world) allow(rules ...string) { w.allowed = append(w.allowed, rules...) }

// rulesByName are rules that also fail for a cache whose name looks like the name of an object of slots, such as
// memcached-slots.
var rulesByName = []string{"one owner", "deletion", "fields"}

// judge fails the test if the history violates a rule of the fault campaign. Many tests share the processors, so judge
// assumes that the operator may have learned late of each change.
func (w *world) judge() {
	w.t.Helper()
	w.recorder.Delayed("many tests run at the same time", w.began)
	w.noteLog()
	h, err := w.recorder.Stop(context.WithoutCancel(w.ctx))
	w.Expect(err).NotTo(gomega.HaveOccurred())
	for _, violation := range model.Check(h, model.Rules()) {
		if slices.Contains(w.allowed, violation.Rule) {
			continue
		}
		w.t.Error(model.Explain(h, violation, entriesOfAViolation))
	}
}

// noteLog records the lines in the operator's log that the operator may not log.
func (w *world) noteLog() {
	w.t.Helper()
	log, err := os.ReadFile(w.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Error(err)
	}
	for line := range strings.Lines(string(log)) {
		if history.IsForbidden(line) {
			w.recorder.Step(history.Logged + strings.TrimSpace(line))
		}
	}
}
