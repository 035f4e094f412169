package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/model"
)

// printer prints only the violations, and the totals.
type printer struct {
	io.Writer

	onReal bool // whether the Nodes are real
	mutant string
	drawn  bool // whether the plans are drawn by a seed
}

func newPrinter(out io.Writer, flags runFlags) printer {
	drawn := flags.plan == "" && flags.each == "" && !flags.everyWrite
	return printer{Writer: out, onReal: flags.real, mutant: flags.mutant, drawn: drawn}
}

// lastEntries is how many entries of the history before a violation are printed.
const lastEntries = 20

func (p printer) result(r campaign.Result) {
	if len(r.Violations) == 0 {
		return
	}
	fmt.Fprintf(p, "\n\nSeed %d broke a rule.\n\n", r.Seed)
	for _, violation := range r.Violations {
		fmt.Fprintf(p, "%s\n%s\n", promiseOf(violation.Rule), model.Explain(r.History, violation, lastEntries))
	}
	repeat := p.repeatFile(r, campaign.PlanFile)
	if p.drawn {
		repeat = p.repeat(r.Seed)
	}
	fmt.Fprintf(p, "Repeat it: %s\n", repeat)
	fmt.Fprintf(p, "Plan, history and the operator's log: %s\n\n", r.Dir)
}

func (p printer) shrunk(r campaign.Result) {
	if r.Shrunk == nil {
		fmt.Fprintf(p, "\n\nSeed %d broke %q only once: %d more runs of its plan did not. Try more:\n  %s --repeat 20\n\n",
			r.Seed, r.Violations[0].Rule, r.Runs, p.repeatFile(r, campaign.PlanFile))
		return
	}
	fmt.Fprintf(p, "\n\n%d of the %d steps of seed %d are enough to break %q (%d runs):\n",
		len(r.Shrunk.Steps), len(r.Plan.Steps), r.Seed, r.Violations[0].Rule, r.Runs)
	for _, step := range r.Shrunk.Steps {
		fmt.Fprintf(p, "  %s\n", step)
	}
	fmt.Fprintf(p, "Repeat them: %s\n\n", p.repeatFile(r, campaign.ShrunkFile))
}

func (p printer) end(totals *campaign.Totals) { fmt.Fprintf(p, "\n%s", totals.Summary()) }

// repeat returns the command that carries out the plan of this seed again.
func (p printer) repeat(seed uint64) string {
	target, args := "faults", ""
	if p.onReal {
		target = "faults-cluster"
	}
	if p.mutant != "" {
		args = fmt.Sprintf(` ARGS="--mutant '%s'"`, p.mutant)
	}
	return fmt.Sprintf("make %s SEED=%d%s", target, seed, args)
}

// repeatFile returns the command that carries out the saved plan again.
func (p printer) repeatFile(r campaign.Result, file string) string {
	command := "go run ./test/faults run"
	if p.onReal {
		command += " --real"
	}
	if p.mutant != "" {
		command += fmt.Sprintf(" --mutant '%s'", p.mutant)
	}
	return command + " --plan " + filepath.Join(r.Dir, file)
}

func promiseOf(rule string) string {
	rules := model.Rules()
	i := slices.IndexFunc(rules, func(r model.Rule) bool { return r.Name == rule })
	if i < 0 {
		return rule
	}
	return strings.TrimSuffix(rules[i].Promise, ".") + ":"
}
