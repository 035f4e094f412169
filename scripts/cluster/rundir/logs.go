package rundir

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// OpenLog opens the log of one process, to append to it.
func (d Dir) OpenLog(name string) (*os.File, error) {
	if err := os.MkdirAll(d.Logs(), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(d.Log(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

// Tail shows the end of a log and where the rest is.
func Tail(log string) string {
	const lines, bytesRead = 12, 16 << 10
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	content = content[max(0, len(content)-bytesRead):]
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return fmt.Sprintf("  %s\n(log: %s)", strings.Join(all[max(0, len(all)-lines):], "\n  "), log)
}
