// Command replaces reports what a change to manifests, or to the operator's defaults, does to the Pods of caches: for
// example, whether they are replaced. It calls the same packages as the operator, and needs no cluster.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

const usage = `Replaces reads a JSON list of changes, and prints what becomes of the Pods of each: created, deleted,
replaced or kept.

Usage:
  replaces < CHANGES

Example:
  echo '[{"before": {"spec": {}}, "after": {"spec": {"threads": 8}}}]' | go run ./operator/tools/replaces
`

// change is a Memcached before and after a change, each with the defaults of the operator at that time. Before or After
// is nil if the Memcached does not exist then.
type change struct {
	Before *cachev1.Memcached `json:"before"`
	After  *cachev1.Memcached `json:"after"`
	From   defaults           `json:"from"`
	To     defaults           `json:"to"`
}

// defaults are the settings that the operator was installed with.
type defaults struct {
	Image         string        `json:"image"`
	Agent         string        `json:"agent"`
	Architectures []string      `json:"architectures"`
	Platform      plan.Platform `json:"platform"`
}

// verdict states whether the Pods are replaced.
type verdict struct {
	Pods string `json:"pods"`
	Why  string `json:"why,omitempty"`
}

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var changes []change
	if err := json.NewDecoder(in).Decode(&changes); err != nil {
		return fmt.Errorf("standard input is no JSON list of changes: %w", err)
	}
	verdicts := make([]verdict, len(changes))
	for i, c := range changes {
		verdicts[i] = c.verdict()
	}
	return json.NewEncoder(out).Encode(verdicts)
}

// verdict compares the operator's plans for the cache before and after the change. Between the two plans, it records in
// the status what the operator would have recorded.
func (c change) verdict() verdict {
	switch {
	case c.After == nil:
		return verdict{"deleted", "the Memcached is removed"}
	case c.Before == nil:
		return verdict{"created", ""}
	}
	c.Before.Status, c.After.Status = cachev1.MemcachedStatus{}, cachev1.MemcachedStatus{}
	before, refusal := c.From.plan(c.Before)
	if refusal != "" { // The cache had no Pods, or kept those of an earlier spec.
		return verdict{"created", "before the change, the operator refused its spec: " + refusal}
	}
	c.After.Status.TemplateInputs = before.Record.Encode()
	after, refusal := c.To.plan(c.After)
	switch {
	case refusal != "":
		return verdict{"kept", "the operator refuses its spec: " + refusal}
	case after.Suspended:
		return verdict{"kept", "the Memcached is suspended: spec.suspend"}
	case after.Record.Template != before.Record.Template:
		return verdict{"replaced", c.reason()}
	case len(after.Pending) > 0:
		return verdict{"kept", "an update stays pending: " + strings.Join(after.Pending, ", ")}
	}
	return verdict{"kept", ""}
}

func (c change) reason() string {
	const requested = cachev1.AnnotationUpdateRequested
	switch {
	case !equality.Semantic.DeepEqual(c.Before.Spec, c.After.Spec):
		return "its changed spec requires other Pods"
	case c.Before.Annotations[requested] != c.After.Annotations[requested]:
		return "the annotation " + requested + " applies a pending update"
	}
	return "updatePolicy: Automatic applies the operator's new defaults, a few caches at a time"
}

// plan returns the operator's plan for a cache that has no Deployment yet, or whose status has the record of a
// Deployment. If the operator refuses the spec, plan returns the reason.
func (d defaults) plan(mc *cachev1.Memcached) (planned plan.Plan, refusal string) {
	if d.Platform == "" {
		d.Platform = plan.Kubernetes
	}
	outcome, _, err := desired.State(mc, plan.Current{SecretsUsable: true}, plan.Defaults{
		Revisions: render.Revisions(), Image: d.Image, AgentImage: d.Agent,
		Architectures: d.Architectures, Platform: d.Platform,
	})
	if err != nil {
		return plan.Plan{}, err.Error()
	}
	if invalid, ok := outcome.(plan.Invalid); ok {
		return plan.Plan{}, invalid.Message()
	}
	planned, _ = plan.Of(outcome)
	return planned, ""
}
