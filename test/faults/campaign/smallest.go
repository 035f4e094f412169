package campaign

import "slices"

// smallest returns a part of the items, in their order, for which fails returns true, by delta debugging (ddmin, Zeller
// and Hildebrandt). fails must return true for all items together. If fails always returns the same for the same items,
// then each item of the result is needed: without this item, fails returns false.
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

// withoutAPart divides the items into equal parts, and returns the items without one part. If every part is needed, it
// returns nil.
func withoutAPart[T any](items []T, parts int, fails func([]T) bool) []T {
	for part := range parts {
		from, to := part*len(items)/parts, (part+1)*len(items)/parts
		if rest := slices.Concat(items[:from], items[to:]); len(rest) > 0 && fails(rest) {
			return rest
		}
	}
	return nil
}
