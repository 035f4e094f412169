package facts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	// pinned are an image by tag or digest, a file of a release and a Git repository at a tag.
	pinned = regexp.MustCompile(`[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?/[\w./-]+:v?\d(?:[\w.-]*\w)?|` +
		`sha256:[0-9a-f]{64}|https://\S+/download/v\d+\.\d+\.\d+|https://\S+\?ref=v\d+\.\d+\.\d+`)

	// example is what people replace by their own.
	example = regexp.MustCompile(`^[a-z0-9.-]*(example\.com|localhost)[:/]`)

	// action is a step of a workflow, and the commit that it is pinned to. Each workflow has to repeat it.
	action = regexp.MustCompile(`(?m)^[\s-]*uses: ([\w.-]+/[\w./-]+)@(\S+)`)
)

// settings repeats images of the manifests. A release and make gitops-init write them.
const settings = "gitops/settings/settings.yaml"

// twice finds what is pinned in several files and is not a copy of a home. One file may repeat it.
func twice(files map[string]string, known map[span]bool) (found []string) {
	in := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if unread.MatchString(name) || name == settings {
			continue
		}
		for _, at := range pinned.FindAllStringIndex(files[name], -1) {
			text := files[name][at[0]:at[1]]
			if !known[span{name, at[1]}] && !example.MatchString(text) && !slices.Contains(in[text], name) {
				in[text] = append(in[text], name)
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(in)) {
		if len(in[text]) > 1 {
			found = append(found, fmt.Sprintf("%s is in %s: make one of them its home in scripts/versions/facts/versions.yaml, "+
				"and the others copies", text, strings.Join(in[text], ", ")))
		}
	}
	return found
}

// apart finds actions that workflows pin to several commits.
func apart(files map[string]string) (found []string) {
	pins := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(name, ".github/") {
			for _, match := range action.FindAllStringSubmatch(files[name], -1) {
				pins[match[1]] = append(pins[match[1]], match[2])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		slices.Sort(pins[name])
		if commits := slices.Compact(pins[name]); len(commits) > 1 {
			found = append(found, fmt.Sprintf("the workflows use %s at %s: pin it to one", name, strings.Join(commits, " and ")))
		}
	}
	return found
}
