// The command terminal draws a recording of a terminal that docs/images/record-demo has made.
package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/terminal/picture"
)

func main() {
	cli.Main(&cobra.Command{
		Use:   "terminal TITLE",
		Short: "Draw lines from stdin; each begins with the second in which it was printed, and a tab",
		Args:  cobra.ExactArgs(1),
		RunE:  draw,
	})
}

func draw(command *cobra.Command, arguments []string) error {
	var lines []picture.Line
	for in := bufio.NewScanner(command.InOrStdin()); in.Scan(); {
		second, text, _ := strings.Cut(in.Text(), "\t")
		after, err := strconv.ParseFloat(second, 64)
		if err != nil {
			return fmt.Errorf("%q does not begin with a number of seconds and a tab: %w", in.Text(), err)
		}
		lines = append(lines, picture.Line{Text: text, After: after})
	}
	_, err := fmt.Fprint(command.OutOrStdout(), picture.Draw(arguments[0], lines))
	return err
}
