// Package rewrite gives the files of a tree another identity, in their text and in their paths.
package rewrite

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/rebrand/identity"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Rewriter replaces the names of one identity by those of another. Rewriting there and back again gives the same text;
// whatever could not be taken back is an error.
type Rewriter struct {
	from, to    identity.Identity
	there, back *strings.Replacer
}

// New returns a rewriter from one identity to another.
func New(from, to identity.Identity) *Rewriter {
	return &Rewriter{from: from, to: to, there: replacer(from, to), back: replacer(to, from)}
}

// replacer replaces all spellings at once, where several begin at the same place the longest: the module path contains
// the project's name, and must not be changed with it.
func replacer(from, to identity.Identity) *strings.Replacer {
	old, fresh := from.Spellings(), to.Spellings()
	order := make([]int, len(old))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(old[b]), len(old[a])) })
	var pairs []string
	for _, i := range order {
		pairs = append(pairs, old[i], fresh[i])
	}
	return strings.NewReplacer(pairs...)
}

// Tree rewrites the files of a folder, in their text and in their paths.
func (r *Rewriter) Tree(dir string, files []string) error {
	taken := map[string]bool{}
	for _, name := range files {
		taken[name] = true
	}
	for _, name := range files {
		target, text, err := r.file(dir, name)
		if err != nil {
			return err
		}
		if target != name && taken[target] {
			return fmt.Errorf("%s would become %s, which exists: choose another name", name, target)
		}
		if target == name && text == nil {
			continue
		}
		if err := write(dir, name, target, text); err != nil {
			return err
		}
	}
	return nil
}

// file returns the path of a file with the other identity, and its text unless that stays as it is.
func (r *Rewriter) file(dir, name string) (target string, text []byte, err error) {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "", nil, err
	}
	if target, err = r.Text(name, name); err != nil {
		return "", nil, err
	}
	if isBinary(content) {
		return target, nil, nil
	}
	next, err := r.Text(name, string(content))
	if err != nil || next == string(content) {
		return target, nil, err
	}
	return target, formatted(name, []byte(next)), nil
}

// Text rewrites the text of a file. It fails where the text already has one of the new names: the two could not be told
// apart afterwards, so that nobody could rebrand a second time.
func (r *Rewriter) Text(name, text string) (string, error) {
	next := r.there.Replace(text)
	if name == identity.Project {
		next = project(next, r.from, r.to)
	}
	again := r.back.Replace(next)
	if name == identity.Project {
		again = project(again, r.to, r.from)
	}
	if again == text {
		return next, nil
	}
	lines, others := strings.Split(text, "\n"), strings.Split(again, "\n")
	i := 0
	for i < min(len(lines), len(others))-1 && lines[i] == others[i] {
		i++
	}
	return "", fmt.Errorf("%s:%d already uses one of the new names: choose another one\n  %s",
		name, i+1, strings.TrimSpace(lines[i]))
}

// project rewrites the two halves of the group in the file PROJECT.
func project(text string, from, to identity.Identity) string {
	group, domain := from.Domain()
	nextGroup, nextDomain := to.Domain()
	for key, value := range map[string][2]string{"group": {group, nextGroup}, "domain": {domain, nextDomain}} {
		line := regexp.MustCompile(`(?m)^([ -]*` + key + `: )` + regexp.QuoteMeta(value[0]) + `$`)
		text = line.ReplaceAllString(text, "${1}"+value[1])
	}
	return text
}

func isBinary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 }

// formatted aligns and sorts Go code, whose imports and columns may be in another order with other names.
func formatted(name string, text []byte) []byte {
	if filepath.Ext(name) != ".go" {
		return text
	}
	if tidy, err := format.Source(text); err == nil {
		return tidy
	}
	return text
}

func write(dir, name, target string, text []byte) error {
	from, to := filepath.Join(dir, name), filepath.Join(dir, target)
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if text == nil {
		if text, err = os.ReadFile(from); err != nil {
			return err
		}
	}
	if target != name {
		if err := os.Remove(from); err != nil {
			return err
		}
	}
	return worktree.WriteFile(to, text, info.Mode().Perm())
}
