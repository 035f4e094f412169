package screen

// The screen of an explanation.

import (
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
)

// Explanation prints the chains of a cache, each link below the link that it explains, and the next commands to run.
func (s Screen) Explanation(explanation cause.Explanation) error {
	fmt.Fprintf(s, "Memcached %s/%s\n", explanation.Namespace, explanation.Name)
	for _, chain := range explanation.Chains {
		s.chain(chain)
	}
	if len(explanation.Next) > 0 {
		fmt.Fprintln(s, "\nNext:")
	}
	for _, advice := range explanation.Next {
		fmt.Fprintf(s, "  %s\n    %s\n", s.painted(advice.Command, Green), advice.For)
	}
	if len(explanation.Unread) > 0 {
		fmt.Fprintf(s, "\nYou have no right to read: %s\n", strings.Join(explanation.Unread, ", "))
	}
	return nil
}

// chain prints a chain. A log may have bytes that control a terminal, so these are escaped.
func (s Screen) chain(chain cause.Chain) {
	title := fmt.Sprintf("\n%s is %s", chain.Condition, chain.Status)
	if chain.Reason != "" {
		title += " (" + chain.Reason + ")"
	}
	if chain.Since != nil {
		title += " for " + s.age(chain.Since)
	}
	fmt.Fprintln(s, title)
	begin := indent
	for _, link := range chain.Links {
		lines := strings.Split(link.Says, "\n")
		lines[0] = link.Object + ": " + lines[0]
		for i, line := range lines {
			prefix := begin
			if i > 0 {
				prefix += indent
			}
			fmt.Fprintln(s, s.Wrap(prefix+printers.EscapeTerminal(line), begin+indent+indent))
		}
		begin += indent
	}
}
