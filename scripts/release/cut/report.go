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
	fmt.Fprintf(out, "\nPushed already:\n  %s\n    %s\n  %s:%s, %s\n    %s\n",
		r.operatorImage(), digestIn(f.image), nameOf(f.agent), tagOf(f.agent), f.agentNews(), digestIn(f.agent))
	fmt.Fprintf(out, "\nTo push, in this order; the digests have to come out as they stand here:\n"+
		"  make bundle-push BUNDLE_IMG=%s:v%s\n    %s\n  make catalog-push CATALOG_IMG=%s:v%s\n    %s\n"+
		"  git add --all && git commit --message 'release: v%[2]s' && git tag v%[2]s && git push origin HEAD v%[2]s\n",
		r.bundleImage(), r.Version, digestIn(m.bundle), r.catalogImage(), r.Version, digestIn(m.catalog))
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
