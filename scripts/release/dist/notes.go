package dist

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

// writeNotes writes what a release page says.
func writeNotes(_ context.Context, c *Content) error {
	var notes strings.Builder
	fmt.Fprintf(&notes, "# %s %s\n\nMade of commit `%s` (%s) with %s.\n\n",
		bundle.Package, c.Version, c.Commit, c.Time, goVersion())
	fmt.Fprintf(&notes, "```sh\nsha256sum -c --ignore-missing SHA256SUMS # in the folder with the manifests\n"+
		"kubectl apply --server-side -f install.yaml # or that of your architecture\n```\n\n"+
		"The archive `.tar.gz` holds every file under the path that is in `SHA256SUMS`. Or install the Helm chart:\n\n"+
		"```sh\nhelm install %s oci://%s \\\n  --version %s \\\n"+
		"  --namespace memcached-operator-system --create-namespace --wait\n```\n\n",
		chart.Name, chartRepository(c.Registry), c.Version)
	fmt.Fprintf(&notes, "| image | digest |\n| --- | --- |\n")
	for _, i := range c.Images {
		fmt.Fprintf(&notes, "| `%s:%s` | `%s` |\n", i.Repository, i.Tag, i.Digest)
	}
	if c.AgentKept {
		fmt.Fprintf(&notes, "\nThe agent is that of an earlier release. Its image is in the registry, and not among "+
			"these files.\n")
	}
	if !strings.Contains(c.Memcached, "@") {
		fmt.Fprintf(&notes, "\nCaches run `%s`, which is not pinned by digest. A release that is made with "+
			"`MEMCACHED_IMAGE=%[1]s@sha256:...` pins it, and its bundle declares itself fit for disconnected "+
			"clusters.\n", c.Memcached)
	}
	writeChanges(&notes, c.LastTag, c.Subjects)
	return c.writeFile("release-notes.md", []byte(notes.String()))
}

// withArea is a commit's subject: `area: what and why`.
var withArea = regexp.MustCompile(`^([\w./, -]+): (.+)$`)

// writeChanges lists commits by area, and within an area the newest first.
func writeChanges(notes *strings.Builder, lastTag string, subjects []string) {
	since := "the beginning"
	if lastTag != "" {
		since = lastTag
	}
	fmt.Fprintf(notes, "\n## Changes since %s\n", since)
	changes := map[string][]string{}
	var others []string
	for _, subject := range subjects {
		if match := withArea.FindStringSubmatch(subject); match != nil {
			changes[match[1]] = append(changes[match[1]], match[2])
			continue
		}
		others = append(others, subject)
	}
	for _, area := range slices.Sorted(maps.Keys(changes)) {
		writeArea(notes, area, changes[area])
	}
	writeArea(notes, "others", others)
}

func writeArea(notes *strings.Builder, area string, changes []string) {
	if len(changes) > 0 {
		fmt.Fprintf(notes, "\n### %s\n\n- %s\n", area, strings.Join(changes, "\n- "))
	}
}
