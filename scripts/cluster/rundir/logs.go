package rundir

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

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
