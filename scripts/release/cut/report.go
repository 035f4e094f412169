package cut

import (
	_ "embed"
	"io"
	"text/template"
)

//go:embed report.txt
var reportText string

// report writes what has changed, what to do next, and what is new.
func (t *Tree) report(out io.Writer, changed []string, dryRun bool) error {
	return template.Must(template.New("").Parse(reportText)).Execute(out, map[string]any{
		"Tree": t, "Changed": changed, "DryRun": dryRun, "OldAgent": t.oldAgent,
	})
}
