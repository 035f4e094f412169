package rewrite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/rebrand/identity"
)

// marked stands for an old name; text files do not have it.
const marked = "\x00"

// Leftovers finds the old names that are still in a tree, also in spellings that the rewriter does not know, such as
// other cases. Each is described by path, line and text.
func (r *Rewriter) Leftovers(dir string, files []string) ([]string, error) {
	find := r.finder()
	var found []string
	for _, name := range files {
		if strings.Contains(find.Replace(strings.ToLower(name)), marked) {
			found = append(found, name+": the path")
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if isBinary(content) {
			continue
		}
		for i, line := range strings.Split(string(content), "\n") {
			if strings.Contains(find.Replace(strings.ToLower(line)), marked) {
				found = append(found, fmt.Sprintf("%s:%d: %s", name, i+1, strings.TrimSpace(line)))
			}
		}
	}
	return found, nil
}

// finder marks old names. Those that are kept, or are part of a new one, it passes over.
func (r *Rewriter) finder() *strings.Replacer {
	kept := spellings(r.to)
	all := slices.Clone(kept)
	for _, old := range spellings(r.from) {
		if !slices.Contains(kept, old) {
			all = append(all, old)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, spelling := range all {
		if slices.Contains(kept, spelling) {
			pairs = append(pairs, spelling, "")
		} else {
			pairs = append(pairs, spelling, marked)
		}
	}
	return strings.NewReplacer(pairs...)
}

// spellings are those of the identity, and others that somebody might use, in lower case.
func spellings(id identity.Identity) []string {
	all := id.Spellings()
	for _, name := range []string{id.Module, id.Group, id.Registry, id.Name} {
		for _, separator := range []string{"_", "-"} {
			all = append(all, strings.NewReplacer(".", separator, "/", separator, "-", separator).Replace(name))
		}
	}
	for i, spelling := range all {
		all[i] = strings.ToLower(spelling)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
