package builds

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// runGo calls the go command in a folder, and returns what the command prints.
func runGo(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// A go.work of the user, or flags that the user set for another module, must not affect the pinned builds.
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		// With these variables, the compiler takes a fifth less time, and needs more memory: 0.6 instead of 0.5 GB for the
		// largest package.
		cmd.Env = append(cmd.Env, "GOGC=400", "GOMEMLIMIT=2GiB")
	}
	var output, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &messages
	if err := cmd.Run(); err != nil {
		return "", failure(cmd, output.String()+messages.String(), err)
	}
	return strings.TrimSpace(output.String()), nil
}

// failure returns an error with the command that failed, its folder, and the end of its output: enough to repeat the
// command by hand.
func failure(cmd *exec.Cmd, output string, err error) error {
	const tail = 15
	lines := strings.Split(strings.TrimSpace(output), "\n")
	lines = lines[max(0, len(lines)-tail):]
	return fmt.Errorf("%s (in %s): %w\n%s%s", strings.Join(cmd.Args, " "), cmd.Dir, err, strings.Join(lines, "\n"),
		hint(output+err.Error()))
}

// hints say what to do about failures that the code did not cause. said is a pattern for the output of the compiler or
// the linker, or for an error of the network. The first hint whose pattern matches is used.
var hints = []struct{ said, hint string }{
	{"no space left on device", "The disk is full. Free some space, or set GOCACHE, GOMODCACHE, XDG_CACHE_HOME and " +
		"TMPDIR to folders on another disk, and run the command again: it keeps what was built."},
	{"no such host|connection refused|network is unreachable|i/o timeout", "The Go module proxy can't be reached. Check " +
		"the network and `go env GOPROXY`, and run the command again: it keeps what was built."},
	{"signal: killed", "The system killed the compiler, most likely because memory ran out. 4 GiB are enough. Run " +
		"the command again: it keeps what was built."},
}

// hint returns what to do about a failure, on its own line. It is empty if no hint is known.
func hint(output string) string {
	for _, h := range hints {
		if regexp.MustCompile(h.said).MatchString(output) {
			return "\n" + h.hint
		}
	}
	return ""
}
