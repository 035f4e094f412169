package plan

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
)

// FuzzAnySpecGivesAPlanOrIsInvalid: whatever a spec asks for, and whatever Deployment exists, the outcome is a plan
// that leaves no question, or an InvalidSpec; and asking again gives the same.
func FuzzAnySpecGivesAPlanOrIsInvalid(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	f.Fuzz(func(t *testing.T, data []byte) {
		filler := arbitrary.Filler(data)
		mc := arbitrary.Memcached(filler)
		var live *appsv1.Deployment
		filler.Fill(&live)
		p, err := Compute(mc, currently(live), newer)
		again, errAgain := Compute(mc.DeepCopy(), currently(live.DeepCopy()), newer)
		if diff := cmp.Diff(p, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("the same gives another plan (-first +second):\n%s\n%v\n%v", diff, err, errAgain)
		}
		if _, invalid := errors.AsType[*InvalidSpec](err); invalid {
			return
		}
		if err != nil {
			t.Fatalf("an error that is no InvalidSpec: %v", err)
		}
		if p.Image == "" || p.Size < 0 || !slices.Contains(newer.Revisions, p.Record.Revision) {
			t.Fatalf("image %q, size %d, revision %d", p.Image, p.Size, p.Record.Revision)
		}
	})
}
