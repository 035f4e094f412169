package verify

import (
	"cmp"
	"slices"
)

// add notes a problem. What shows in several ways or variants is one problem.
func (r *run) add(p Problem) {
	for i, known := range r.found {
		if known.Level == p.Level && known.Rule == p.Rule && known.File == p.File &&
			known.Application == p.Application && known.Text == p.Text {
			for _, way := range p.Ways {
				if !slices.Contains(known.Ways, way) {
					r.found[i].Ways = append(r.found[i].Ways, way)
				}
			}
			return
		}
	}
	r.found = append(r.found, p)
}

// sorted are the problems, errors first, by file. Ways are named only where not all have the problem.
func (r *run) sorted() []Problem {
	problems := append([]Problem{}, r.found...)
	for i := range problems {
		if len(problems[i].Ways) == len(r.ways) {
			problems[i].Ways = nil
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Level, b.Level), // error comes before warning
			cmp.Compare(a.File, b.File), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Text, b.Text),
		)
	})
	return problems
}
