package bootstrap

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestAPhaseIsAwaitedUntilTheFileHasItOrALaterOne(t *testing.T) {
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "phase")
	b := &bootstrap{options: &Options{PhaseFile: file}, log: slog.New(slog.DiscardHandler)}
	hold := b.hold(t.Context())
	for _, content := range []string{"", "follow\n", "cutOvers", "true"} {
		g.Expect(os.WriteFile(file, []byte(content), 0o600)).To(gomega.Succeed())
		g.Consistently(hold).WithTimeout(2*interval).ShouldNot(gomega.BeClosed(), content)
	}
	g.Expect(os.WriteFile(file, []byte("moved\n"), 0o600)).To(gomega.Succeed())
	g.Eventually(hold).WithTimeout(time.Minute).Should(gomega.BeClosed())
	g.Expect((&bootstrap{options: &Options{}}).phase()).To(gomega.Equal(instruction.PhaseCutOver), "without a file")
}

func TestProbes(t *testing.T) {
	b := &bootstrap{options: &Options{}, log: slog.New(slog.DiscardHandler)}
	codes := func() (all []int) {
		for _, path := range []string{"/healthz", "/started", "/ready"} {
			answer := httptest.NewRecorder()
			b.probes().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			all = append(all, answer.Code)
		}
		return all
	}
	got := [][]int{codes()}
	b.follow()
	got = append(got, codes())
	if err := b.cutOver(); err != nil {
		t.Fatal(err)
	}
	got = append(got, codes())
	if diff := cmp.Diff([][]int{{200, 503, 503}, {200, 200, 503}, {200, 200, 200}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClientsMustNotUseTheCacheUnlessThatIsRemembered(t *testing.T) {
	dir := t.TempDir()
	b := &bootstrap{options: &Options{StateFile: filepath.Join(dir, "missing", "copied")}, log: slog.New(slog.DiscardHandler)}
	if err := b.cutOver(); err == nil || b.copied.Load() {
		t.Errorf("error %v, ready %v", err, b.copied.Load())
	}
	b.options.StateFile = filepath.Join(dir, "copied")
	if err := b.cutOver(); err != nil || !b.copied.Load() || !wasCopied(b.options.StateFile) {
		t.Errorf("error %v, ready %v", err, b.copied.Load())
	}
}

func TestAFailureOfAnOldServerHasAHint(t *testing.T) {
	tests := map[string]struct{ reason, server, want string }{
		"an old server":     {handoff.OldTooOld, "old:1", "OldTooOld: old:1: odd: update it to 1.6.20 or later, or begin with an empty cache"},
		"a slot":            {handoff.DumpForbidden, "shop-0:1", "DumpForbidden: shop-0:1: odd"},
		"none helps":        {handoff.Flushed, "old:1", "Flushed: old:1: odd"},
		"of no server":      {handoff.OtherHash, "", "OtherHash: odd"},
		"not to be reached": {handoff.OldUnreachable, "old:1", "OldUnreachable: old:1: odd: check its address, and that firewalls and its --listen allow the Pod of the bootstrap"},
	}
	b := &bootstrap{options: &Options{From: []string{"old:1"}}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := b.hinted(&handoff.Failure{Reason: tc.reason, Server: tc.server, Err: errors.New("odd")})
			if diff := cmp.Diff(tc.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
