package variants

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Every operator that Build builds has its own clock: the file that ClockFile names has the seconds by which it is
// ahead, and a process reads it when it starts and with each ClockSignal. Like a clock that a time server corrects,
// only its wall time jumps; durations are measured by the monotonic clock. Such an operator also ends when its standard
// input is closed, so that none is left when the campaign is killed.
const (
	ClockFile = "FAULTS_CLOCK"

	// ClockSignal is ignored by a process that does not wait for it yet.
	ClockSignal = syscall.SIGWINCH
)

const (
	clockFolder = "operator/internal/stepped"
	clockImport = `"github.com/example-inc/memcached-operator/` + clockFolder + `"`
)

var (
	timeOfDay  = regexp.MustCompile(`\btime\.(Now|Since|Until)\b`)
	timeImport = regexp.MustCompile(`(?m)^\t"time"$`)
)

// clock returns the edits that give the operator its clock. before are the texts of files that other edits changed.
func clock(root string, before map[string]string) ([]Edit, error) {
	edits := []Edit{{File: clockFolder + "/clock.go", New: clockSource}}
	err := filepath.WalkDir(filepath.Join(root, "operator/internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "agent" { // The agent is another program.
			return skip(err, d)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := textOf(root, file, before)
		if err == nil && timeOfDay.MatchString(text) {
			edits = append(edits, Edit{File: file, New: withClock(text)})
		}
		return err
	})
	return edits, err
}

func skip(err error, d fs.DirEntry) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

func textOf(root, file string, before map[string]string) (string, error) {
	if text, changed := before[file]; changed {
		return text, nil
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	return string(text), err
}

func withClock(text string) string {
	text = timeOfDay.ReplaceAllString(text, "stepped.$1")
	return timeImport.ReplaceAllString(text, "\t\"time\"\n\n\t"+clockImport) + "\nvar _ time.Time\n"
}

// clockSource adds seconds to the wall time in a time.Time, and does not change the monotonic time next to it. In the
// wall time, the seconds are above 30 bits of nanoseconds.
const clockSource = `package stepped

import (
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var ahead atomic.Int64

func init() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	read()
	go func() {
		for range signals {
			read()
		}
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
}

func read() {
	content, _ := os.ReadFile(os.Getenv("` + ClockFile + `"))
	seconds, _ := strconv.ParseInt(string(content), 10, 64)
	ahead.Store(seconds)
}

func Now() time.Time {
	now := time.Now()
	*(*uint64)(unsafe.Pointer(&now)) += uint64(ahead.Load()) << 30
	return now
}

func Since(t time.Time) time.Duration { return Now().Sub(t) }

func Until(t time.Time) time.Duration { return t.Sub(Now()) }
`
