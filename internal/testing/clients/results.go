package clients

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// These are the changes to a cache during which clients are tested, one in each phase.
const (
	Rollout    = "rollout"
	Evicted    = "evicted Pod"
	ScaledUp   = "3 to 4 Pods"
	ScaledDown = "4 to 3 Pods"
	Killed     = "killed Pod"
	Rotated    = "new certificate"
)

// phases are the columns of the table.
var phases = []string{Rollout, Evicted, ScaledUp, ScaledDown, Killed, Rotated}

// keys is how many keys a program stores.
const keys = 500

// connections is how many connections a program has: one to each Pod.
const connections = 3

// longest is how many milliseconds a request may take.
const longest = 1000

// allowed is how many errors a client may see: one for its connection to each Pod that is replaced. There is no limit
// for Killed, because no server has the keys of a killed Pod until another Pod replaces it.
var allowed = map[string]int{Rollout: connections, Evicted: 1}

// Result is what a client saw.
type Result struct {
	Client  Client
	Version string
	Phases  map[string]Seen
}

// Failures returns the goals that the client missed.
func (r Result) Failures() (failures []string) {
	for phase, seen := range r.Phases {
		missed := func(what string, got, most int) {
			if got > most {
				failures = append(failures, fmt.Sprintf("%s, %s: %d %s, want at most %d: %s",
					r.Client.Name, phase, got, what, most, seen.Error))
			}
		}
		missed("wrong values", seen.Wrong, 0)
		missed("milliseconds for a request", seen.Longest, longest)
		if phase != Killed {
			errors, misses := r.Client.allowed(phase)
			missed("misses", seen.Misses, misses)
			missed("errors", seen.Errors, errors)
		}
	}
	slices.Sort(failures)
	return failures
}

// allowed returns how many errors and misses a client may see in a phase. A client that discovers a changed list of
// servers looks for about a quarter of its keys at another server than before, because the cache has no clientHash.
func (c Client) allowed(phase string) (errors, misses int) {
	errors = allowed[phase]
	misses = c.PausedMisses * errors
	if c.Discover && (phase == ScaledUp || phase == ScaledDown) {
		misses = keys / 2
	}
	return errors, misses
}

// Results collects the results of all clients. Several tests may add results at the same time.
type Results struct {
	mutex sync.Mutex
	all   []Result
}

// Add adds results.
func (r *Results) Add(results []Result) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.all = append(r.all, results...)
}

// Table returns the table of the page, with the clients in the order of All.
func (r *Results) Table(at time.Time) string {
	var table strings.Builder
	fmt.Fprintf(&table, "| client | version | %s | longest request |\n|%s\n",
		strings.Join(phases, " | "), strings.Repeat(" --- |", len(phases)+3))
	for _, client := range All {
		i := slices.IndexFunc(r.all, func(result Result) bool { return result.Client.Name == client.Name })
		if i < 0 {
			continue
		}
		fmt.Fprintf(&table, "| %s | %s |", client.Name, r.all[i].Version)
		most := 0
		for _, phase := range phases {
			seen, tried := r.all[i].Phases[phase]
			if !tried {
				table.WriteString(" - |")
				continue
			}
			fmt.Fprintf(&table, " %d, %d |", seen.Errors, seen.Misses)
			most = max(most, seen.Longest)
		}
		fmt.Fprintf(&table, " %d ms |\n", most)
	}
	fmt.Fprintf(&table, "\nMeasured on %s, on %d cores, with packages of Debian %s.\n",
		at.UTC().Format(time.DateOnly), runtime.NumCPU(), Suite)
	return table.String()
}

// Write writes the table into the page.
func Write(file, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	after, err := page.Replace(string(text), "measured: written by make clients", table)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(after), 0o600)
}
