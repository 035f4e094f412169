package apply

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// refusalTTL is how long a refused creation is not repeated. Otherwise each Pod that becomes ready would repeat it.
const refusalTTL = 5 * time.Second

// refusals remembers creations that the API server would refuse again.
type refusals struct {
	*cache.Expiring
}

// refusalKey says what was refused. A changed spec is tried at once.
type refusalKey struct {
	memcached  types.UID
	generation int64
	object     observe.Key
	hash       string
}

type refusal struct {
	outcome Outcome
	err     error
}

// createUnlessRefused creates an object, unless that failed just now for a reason that lasts.
func (s *Syncer) createUnlessRefused(
	ctx context.Context, mc *cachev1.Memcached, object render.Object,
) (Outcome, error) {
	key := refusalKey{mc.UID, mc.Generation, keyOf(object), hashOf(object)}
	if last, known := s.refusals.Get(key); known {
		last := last.(refusal)
		return last.outcome, last.err
	}
	outcome, err := s.create(ctx, mc, object)
	if outcome.Result == NotOwned || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		again := outcome
		again.RetryAfter = min(outcome.RetryAfter, refusalTTL)
		s.refusals.Set(key, refusal{again, err}, refusalTTL)
	}
	return outcome, err
}
