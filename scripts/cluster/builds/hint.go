package builds

import "strings"

// hints are what to do about failures that have nothing to do with the code, by what the compiler, the linker or the
// network say of them.
var hints = []struct{ said, hint string }{
	{"no space left on device", "The disk is full. Free some space, or name folders on another disk by GOCACHE, " +
		"GOMODCACHE, XDG_CACHE_HOME and TMPDIR, and run it again: what was built is kept."},
	{"no such host", offline},
	{"connection refused", offline},
	{"network is unreachable", offline},
	{"i/o timeout", offline},
	{"signal: killed", "The system ended it, most likely for want of memory: 4 GiB are enough. " +
		"Run it again: what was built is kept."},
}

const offline = "The Go module proxy can't be reached. Look at the network and at `go env GOPROXY`, and run it " +
	"again: what was fetched and built is kept."

// hint is what to do about a failure, if that is known, on a line of its own.
func hint(output string) string {
	for _, h := range hints {
		if strings.Contains(output, h.said) {
			return "\n" + h.hint
		}
	}
	return ""
}
