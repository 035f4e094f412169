package cut

import (
	"fmt"
	"io"
	"strings"
)

// report tells what was done, what is left to do, and what is new.
func (r *Release) report(out io.Writer, f *facts, m *made, changed []string) {
	verb := "Written"
	if r.DryRun {
		verb = "Would be written"
	}
	fmt.Fprintf(out, "%s for %s:\n", verb, r.Version)
	for _, name := range changed {
		fmt.Fprintf(out, "  %s\n", name)
	}
	fmt.Fprintf(out, "\nImages, which make release builds and make release-push pushes:\n"+
		"  %s\n    %s\n  %s:%s, %s\n    %s\n  %s:v%s\n    %s\n  %s:v%s\n    %s\n",
		r.operatorImage(), digestIn(f.image), nameOf(f.agent), tagOf(f.agent), f.agentNews(), digestIn(f.agent),
		r.bundleImage(), r.Version, digestIn(m.bundle), r.catalogImage(), r.Version, digestIn(m.catalog))
	fmt.Fprintf(out, "\nNext:\n"+
		"  git add --all && git commit --message 'release: v%[1]s' && git tag v%[1]s\n"+
		"  make release VERSION=%[1]s REGISTRY=%[2]s OUT=dist\n"+
		"  make release-push OUT=dist\n"+
		"  git push origin HEAD v%[1]s\n", r.Version, r.Registry)
	since := "the beginning"
	if f.lastTag != "" {
		since = f.lastTag
	}
	fmt.Fprintf(out, "\nNotes, of the commits since %s:\n\n# v%s\n\n", since, r.Version)
	for _, subject := range f.subjects {
		fmt.Fprintf(out, "- %s\n", subject)
	}
}

// agentNews tells whether the caches will have something to wait for.
func (f *facts) agentNews() string {
	if f.agent == f.oldAgent {
		return "the same as before"
	}
	return "in place of " + f.oldAgent
}

func digestIn(ref string) string {
	_, digest, _ := strings.Cut(ref, "@")
	return digest
}
