package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
)

// FuzzAnySpecGivesAPlanOrIsInvalid: whatever a spec requests, and whatever Deployment exists, the outcome is a complete
// plan or an invalid spec, and the same input gives the same outcome again.
func FuzzAnySpecGivesAPlanOrIsInvalid(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	f.Fuzz(func(t *testing.T, data []byte) {
		filler := arbitrary.Filler(data)
		mc := arbitrary.Memcached(filler)
		var live *appsv1.Deployment
		filler.Fill(&live)
		outcome, err := decided(mc, currently(live), newer)
		again, errAgain := decided(mc.DeepCopy(), currently(live.DeepCopy()), newer)
		if diff := cmp.Diff(outcome, again); diff != "" || err != nil || errAgain != nil {
			t.Fatalf("the same gives another outcome (-first +second):\n%s\n%v\n%v", diff, err, errAgain)
		}
		p, planned := Of(outcome)
		if invalid, ok := outcome.(Invalid); ok == planned || ok && len(invalid.Problems) == 0 {
			t.Fatalf("neither a plan nor problems: %+v", outcome)
		} else if ok {
			return
		}
		if p.Image == "" || p.Size < 0 || !slices.Contains(newer.Revisions, p.Record.Revision) {
			t.Fatalf("image %q, size %d, revision %d", p.Image, p.Size, p.Record.Revision)
		}
	})
}
