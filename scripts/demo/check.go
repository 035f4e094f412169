package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// status is the result of a check in one word. Only failed stops the demo.
type status string

const (
	passed  status = "passed"
	warning status = "warning"
	failed  status = "failed"
	skipped status = "skipped"
)

var marks = map[status]string{passed: "✓", warning: "!", failed: "✗", skipped: "–"}

// result is what a check found.
type result struct {
	Name   string `json:"name"`
	Status status `json:"status"`
	Found  string `json:"found"`
	Fix    string `json:"fix,omitempty"` // what to do; for a warning, what to consider
}

// check finds a problem that would otherwise make the demo fail only after minutes, or with an obscure error. A check
// changes nothing.
type check struct {
	name  string
	needs string // the name of another check that must pass before this one
	run   func(context.Context) result
}

// checks returns the checks of the install method, in order. When the checks run, they also fill in fields of the
// pipeline.
func (d *demo) checks(kubeContext, clone string) []check {
	all := []check{
		{"cluster", "", func(ctx context.Context) result { return d.checkCluster(ctx, kubeContext) }},
		{"registry", "", d.checkRegistry},
		{"Argo CD", "cluster", d.checkArgoCD},
		{"Git repository", "", func(ctx context.Context) result { return d.checkGit(ctx, clone) }},
		{"operator", "Argo CD", d.checkOperator},
	}
	if d.Method.ByOLM() {
		all = append(all, check{"OLM", "cluster", d.checkOLM})
	}
	return append(all, check{"objects to apply", "Argo CD", d.checkObjects})
}

// check runs checks, and prints each result as text immediately, or all of them as JSON.
func (d *demo) check(ctx context.Context, checks []check, format string) error {
	out, results, failures := d.console.Out, []result{}, 0
	if format != "json" {
		fmt.Fprintln(out, "Checks:")
	}
	missing := map[string]bool{}
	for _, check := range checks {
		r := result{Status: skipped, Found: "needs " + check.needs}
		if !missing[check.needs] {
			r = check.run(ctx)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w; nothing was changed", context.Cause(ctx)) // instead of the error that the check got
		}
		r.Name = check.name
		missing[r.Name] = r.Status == failed || r.Status == skipped
		if r.Status == failed {
			failures++
		}
		if results = append(results, r); format != "json" {
			printResult(out, r)
		}
	}
	if format == "json" {
		content, err := json.MarshalIndent(map[string]any{"checks": results, "failed": failures}, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(out, string(content))
	}
	if failures > 0 {
		return fmt.Errorf("nothing was changed, because %d of these checks failed (✗); "+
			"the fix is below each of them", failures)
	}
	return nil
}

func printResult(out io.Writer, r result) {
	const indent = "\n                         "
	fmt.Fprintf(out, "  %s %-20s %s\n", marks[r.Status], r.Name, strings.ReplaceAll(r.Found, "\n", indent))
	if r.Fix != "" {
		fmt.Fprintf(out, "%s→ %s\n", indent[3:], strings.ReplaceAll(r.Fix, "\n", indent))
	}
}

func pass(format string, args ...any) result {
	return result{Status: passed, Found: fmt.Sprintf(format, args...)}
}

func warn(found, fix string) result { return result{Status: warning, Found: found, Fix: fix} }

func fail(found, fix string) result { return result{Status: failed, Found: found, Fix: fix} }

// missingRight returns the result of a check whose request failed, most often because the user does not have a right.
func missingRight(err error, right string) result {
	return fail(err.Error(), "request the right to "+right)
}
