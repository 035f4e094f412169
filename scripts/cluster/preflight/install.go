package preflight

import (
	"context"
	_ "embed" // for the script
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

//go:embed install.sh
var script string

// install has apt-get install what is missing. It names all of it before it begins. An interrupted apt-get would leave
// packages half installed, so it is always finished.
func install(ctx context.Context, missing []Need) error {
	names := packages(missing)
	progress.Note(ctx, "apt-get installs packages of your distribution that this needs: %s", strings.Join(names, " "))
	return progress.Stage(ctx, "Install packages", func(update func(string)) error {
		update(strings.Join(names, " "))
		command := exec.CommandContext(context.WithoutCancel(ctx), "sh", append([]string{"-c", script, "sh"}, names...)...)
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal does not reach it.
		if out, err := command.CombinedOutput(); err != nil {
			// It also says "Unable to locate package" where it reached no mirror: its update succeeds without one.
			return fmt.Errorf("apt-get install %s: %w\n%s\nLook whether this machine reaches the mirrors of its "+
				"distribution (apt-get update), and run it again", strings.Join(names, " "), err, out)
		}
		return nil
	})
}
