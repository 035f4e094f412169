package commands

// The flags and the question of the commands that change something.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/access"
)

// changeOptions are the options of all commands that change something.
type changeOptions struct {
	yes    bool
	dryRun string
}

func (o *changeOptions) addFlags(command *cobra.Command) {
	command.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask.")
	command.Flags().StringVar(&o.dryRun, "dry-run", "none",
		`Must be "none" or "server". With server, the API server checks the request and changes nothing.`)
	command.Flags().Lookup("dry-run").NoOptDefVal = "server"
	_ = command.RegisterFlagCompletionFunc("dry-run", // The flag exists.
		cobra.FixedCompletions([]string{"none", "server"}, cobra.ShellCompDirectiveNoFileComp))
}

// patchOptions returns the options of the request.
func (o *changeOptions) patchOptions() (metav1.PatchOptions, error) {
	options := metav1.PatchOptions{FieldManager: access.FieldManager}
	switch o.dryRun {
	case "none":
	case "server":
		options.DryRun = []string{metav1.DryRunAll}
	default:
		return options, fmt.Errorf("--dry-run %q is unknown: write none or server", o.dryRun)
	}
	return options, nil
}

func (o *changeOptions) isDryRun() bool { return o.dryRun == "server" }

// done returns the end of the line that reports a change.
func (o *changeOptions) done(what string) string {
	if o.isDryRun() {
		return what + " (server dry run)"
	}
	return what
}

// confirm asks the user, unless nothing would change or the user has agreed already.
func (p *plugin) confirm(ctx context.Context, options changeOptions, question string) error {
	if options.yes || options.isDryRun() {
		return nil
	}
	const prompt, inOneLine = " Continue? [y/N] ", " Continue?\u00a0[y/N]\u00a0"
	fmt.Fprint(p.ErrOut, strings.Replace(p.screen.Wrap(question+inOneLine, ""), inOneLine[1:], prompt[1:], 1))
	answers := make(chan string, 1)
	go func() { // A signal does not end a read of a terminal.
		answer, _ := bufio.NewReader(p.In).ReadString('\n')
		answers <- strings.ToLower(answer)
	}()
	answer := ""
	select {
	case answer = <-answers:
	case <-ctx.Done():
	}
	if !strings.HasSuffix(answer, "\n") { // The cursor is still behind the question.
		fmt.Fprintln(p.ErrOut)
	}
	switch strings.TrimSpace(answer) {
	case "y", "yes":
		return nil
	case "":
		return errors.New("nothing was changed, because the answer to the question was not y: add --yes to skip the question")
	}
	return errors.New("nothing was changed, because the answer to the question was not y")
}
