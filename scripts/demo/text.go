package main

import (
	"bufio"
	"context"
	_ "embed" // for the texts
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/template"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

//go:embed text.tmpl
var text string

// console is where the demo prints texts and reads answers.
type console struct {
	In       io.Reader
	Out      io.Writer
	Terminal bool // whether a user can answer
}

// print prints one of the templates in text.tmpl.
func (d *demo) print(name string) error {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"join": strings.Join, "quote": quote, "sudo": func() bool { return os.Getenv("SUDO_USER") != "" },
	}).Parse(text)).ExecuteTemplate(d.console.Out, name, d)
}

// ask prints the plan, and returns an error unless the user agrees.
func (d *demo) ask(ctx context.Context, yes bool) error {
	if err := d.print("plan"); err != nil || yes {
		return err
	}
	if !d.console.Terminal {
		return errors.New("nothing was changed, because there is no terminal on which to ask you. To continue without a " +
			"question, set --yes (with make: ARGS=--yes)")
	}
	fmt.Fprint(d.console.Out, "\nNothing has been changed yet. Continue? [y/N] ")
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(d.console.In).ReadString('\n') // If the input ends, the answer counts as no.
		lines <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(d.console.Out)
		return fmt.Errorf("%w; nothing was changed", context.Cause(ctx))
	case line := <-lines:
		if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))) {
			return errors.New("you did not answer yes: nothing was changed")
		}
		return nil
	}
}

// summarize prints the state of the cluster, what to try next, and how to remove everything.
func (d *demo) summarize(ctx context.Context, mc *cachev1.Memcached, result string) error {
	var err error
	if d.Applications, err = d.Pipeline.Applications(ctx); err != nil {
		return err
	}
	if d.Cluster != nil {
		kubectl := exec.CommandContext(ctx, d.Cluster.Kubectl, "--kubeconfig", d.Cluster.Kubeconfig,
			"--namespace", mc.Namespace, "get", "memcached,deployment,pods")
		listing, err := kubectl.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", kubectl, err, listing)
		}
		d.Listing = string(listing)
	}
	d.Nodes, d.Result, d.Took = mc.Status.Nodes, result, progress.Elapsed(time.Since(d.started))
	return d.print("result")
}

// shorten cuts a message so that it fits on a stage's line.
func shorten(message string) string {
	const width = 80
	runes := []rune(strings.ReplaceAll(message, "\n", " "))
	if len(runes) <= width {
		return string(runes)
	}
	return string(runes[:width-1]) + "…"
}

// quote quotes a path for the shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
