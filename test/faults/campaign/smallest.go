package campaign

import "slices"

// smallest returns a part of the items, in their order, for which fails returns true, by delta debugging (ddmin, Zeller
// and Hildebrandt). It must return true for all of them. If it always returns the same for the same items, no single
// item of the result can be left out.
func smallest[T any](items []T, fails func([]T) bool) []T {
	if len(items) == 0 || fails(nil) {
		return nil
	}
	for parts := 2; len(items) > 1; {
		rest := withoutAPart(items, parts, fails)
		switch {
		case rest != nil:
			items, parts = rest, max(parts-1, 2)
		case parts >= len(items):
			return items
		default:
			parts = min(2*parts, len(items))
		}
	}
	return items
}

// withoutAPart leaves out one of some equal parts, or returns nil if every part is needed.
func withoutAPart[T any](items []T, parts int, fails func([]T) bool) []T {
	for part := range parts {
		from, to := part*len(items)/parts, (part+1)*len(items)/parts
		if rest := slices.Concat(items[:from], items[to:]); len(rest) > 0 && fails(rest) {
			return rest
		}
	}
	return nil
}
