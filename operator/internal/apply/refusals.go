package apply

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// refusalTTL is how long a refused write is not repeated. Otherwise it would be repeated whenever a Pod becomes ready.
const refusalTTL = 5 * time.Second

// refusals remembers writes that the API server would refuse again.
type refusals struct {
	*cache.Expiring
}

// refusalKey identifies a refused write. A write with another key is tried immediately. For a creation, the uid and the
// generation are those of the Memcached, so a changed spec is tried immediately; for an update, the uid and the
// generation are those of the object.
type refusalKey struct {
	uid        types.UID
	generation int64
	object     observe.Key
	hash       string
}

func refusalKeyOf(of metav1.Object, object render.Object) refusalKey {
	return refusalKey{of.GetUID(), of.GetGeneration(), keyOf(object), hashOf(object)}
}

type refusal struct {
	outcome Outcome
	err     error
}

// unlessRefused writes an object, unless the same write failed within refusalTTL for a reason that lasts.
func (r refusals) unlessRefused(key refusalKey, write func() (Outcome, error)) (Outcome, error) {
	if last, known := r.Get(key); known {
		last := last.(refusal)
		return last.outcome, last.err
	}
	outcome, err := write()
	if outcome.Result == NotOwned || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		again := outcome
		again.RetryAfter = min(outcome.RetryAfter, refusalTTL)
		r.Set(key, refusal{again, err}, refusalTTL)
	}
	return outcome, err
}
