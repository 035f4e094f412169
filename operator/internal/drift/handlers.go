package drift

// Finds hooks and probes to which another client gave another handler.

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// handlers are the fields for the handler of a hook or a probe, which has exactly one of them.
var handlers = []string{"exec", "grpc", "httpGet", "sleep", "tcpSocket"}

// IsHandler reports whether a field is one of these handlers.
func IsHandler(field string) bool { return slices.Contains(handlers, field) }

// OtherHandlers returns the JSON pointers of hooks and probes that have another handler than the operator's.
// Server-side apply would keep both handlers, and the API server rejects two. It also rejects a hook or probe without a
// handler, so each pointer is to a whole hook or probe. Call OtherHandlers only for an object that the API server has
// rejected, because an apply removes the other handler anyway if it is the operator's own former one.
func OtherHandlers(live Object, desired any, changed *fieldpath.Set) ([]string, error) {
	actual, _, err := contents(live, desired)
	if err != nil {
		return nil, err
	}
	var pointers []string
	for _, path := range topmost(actual, changed) {
		last := path[len(path)-1].FieldName
		parent, found := find(actual, path[:len(path)-1])
		if found && last != nil && IsHandler(*last) && parent.hasOtherHandler(*last) {
			pointers = append(pointers, parent.pointer)
		}
	}
	slices.SortFunc(pointers, byLast)
	return pointers, nil
}

func (p place) hasOtherHandler(wanted string) bool {
	return slices.ContainsFunc(handlers, func(handler string) bool {
		_, found := p.field(handler)
		return found && handler != wanted
	})
}
