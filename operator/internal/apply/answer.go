package apply

// Recognizes by the API server's answer that admission undid a write.

import (
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// errUndone means that the API server accepted a change and stored nothing of it. There may be no watch event of such a
// write.
var errUndone = errors.New("the API server accepted the change and stored nothing: " +
	"a mutating admission policy or webhook reverts the change; exempt the object from this policy or webhook")

// stored returns the outcome of a write that the API server accepted. The API server's answer shows what was stored.
func (s *Syncer) stored(
	live client.Object, changed *fieldpath.Set, asked map[string]any, answer render.Object,
) (Outcome, error) {
	undone, err := s.schemas.undone(changed, asked, answer)
	if err != nil {
		return Outcome{}, err
	}
	if undone || isStillVersion(live.GetResourceVersion(), answer) {
		return Outcome{}, errUndone
	}
	return Outcome{Result: Updated, Fields: paths(changed), Generation: answeredGeneration(answer)}, nil
}

// undone reports whether nothing of a change is in the API server's answer: each changed field still differs from the
// requested value. The resource version does not show whether the change was stored, because another client may have
// written in the meantime.
func (s schemas) undone(changed *fieldpath.Set, asked map[string]any, answer render.Object) (bool, error) {
	left, err := s[answer.GroupKind].compare(answer.Configuration, asked)
	return err == nil && !changed.Empty() && changed.Difference(left).Empty(), err
}

// isStillVersion reports whether the API server's answer still has the resource version that was read.
func isStillVersion(read string, answer render.Object) bool {
	return read != "" && answer.Metadata.ResourceVersion != nil && *answer.Metadata.ResourceVersion == read
}

// answeredGeneration reads the generation from the API server's answer, with which Apply overwrites the configuration.
func answeredGeneration(object render.Object) int64 {
	if object.Metadata.Generation == nil {
		return 0
	}
	return *object.Metadata.Generation
}
