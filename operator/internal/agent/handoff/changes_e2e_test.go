//go:build e2e

package handoff_test

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

func TestWhatChangesWhileItIsCopied(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		atNew   bool
		request string
		answers []string
		want    string // in the new memcached
	}{
		"a new value is copied again":                {false, "set key 0 0 3\r\nnew", []string{"STORED"}, "new"},
		"an appended value, too":                     {false, "append key 0 0 3\r\nnew", []string{"STORED"}, "oldnew"},
		"a deleted item is deleted":                  {false, "delete key", []string{"DELETED"}, ""},
		"an item that became a number is deleted":    {false, "set key 0 0 1\r\n1", []string{"STORED"}, ""},
		"what a client deleted in the new one stays": {true, "delete key", []string{"DELETED", "NOT_FOUND"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := start(t), start(t)
			connect(t, old).set(t, "key", "old", "T0")
			fill(t, old, 20000)
			r := begin(t, dial(old), dial(next), func(ctx context.Context, h *handoff.Handoff) error {
				h.Settings.Rate = 2 << 20
				return h.Run(ctx)
			})
			there := connect(t, next)
			g := gomega.NewWithT(t)
			g.Eventually(func() int64 { return r.Progress().Keys }).WithTimeout(2 * time.Minute).Should(gomega.BeNumerically(">", 0))
			client := connect(t, old)
			if tc.atNew {
				client = there
			}
			answer, err := client.ask(tc.request)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(answer).To(gomega.BeElementOf(tc.answers))
			r.copy(t)
			_, value, err := there.get("key", "")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(value).To(gomega.Equal(tc.want))
			r.finish(t, old)
		})
	}
}

func TestACrawlerThatIsBusyIsWaitedFor(t *testing.T) {
	t.Parallel()
	old, next := start(t), start(t)
	fill(t, old, 200000)
	// A client that requests a list and reads nothing keeps the crawler busy.
	other := connect(t, old)
	if _, err := other.ask("lru_crawler metadump all"); err != nil {
		t.Fatal(err)
	}
	r := run(t, dial(old), dial(next))
	gomega.NewWithT(t).Consistently(r.copied).WithTimeout(500 * time.Millisecond).ShouldNot(gomega.BeClosed())
	_ = other.connection.Close()
	r.copy(t)
	if got := held(t, next, 200000); got != 200000 {
		t.Errorf("%d keys: %+v", got, r.Progress())
	}
}
