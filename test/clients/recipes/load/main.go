// Command load uses the cache client of Thanos, Loki or Mimir as the program does, with the file of its recipe, and
// prints each second what it saw, as a line of JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// keys is how many keys the program has, and expiry how long they stay.
const (
	keys   = 500
	expiry = 5 * time.Minute
)

// cache is a client. All three return a fetch that failed in their own way: see their files.
type cache interface {
	get(key string) (value []byte, err error)
	set(key, value string) error
}

// errMiss is the error of a key that is missing.
var errMiss = errors.New("miss")

// program is one of the programs of docs/recipes.
type program struct {
	name    string
	module  string // has the client, and its version
	connect func(recipe []byte, servers []string) (cache, error)
}

// programs are chosen by the environment.
var programs = map[string]program{
	"thanos": {"Thanos", "github.com/thanos-io/thanos", newThanos},
	"loki":   {"Loki", "github.com/grafana/loki/v3", newLoki},
	"mimir":  {"dskit", "github.com/grafana/dskit", newMimir},
}

type seen struct {
	At      float64 `json:"at"`
	Reads   int     `json:"reads"`
	Misses  int     `json:"misses"`
	Errors  int     `json:"errors"`
	Wrong   int     `json:"wrong"`
	Longest int64   `json:"longest"`
	Error   string  `json:"error"`
	Start   bool    `json:"start,omitempty"`
	Version string  `json:"version,omitempty"`
}

type load struct {
	cache cache
	seen  seen
}

func main() {
	use := programs[os.Getenv("CLIENT")]
	if use.connect == nil {
		fmt.Fprintln(os.Stderr, "CLIENT is none of thanos, loki, mimir")
		os.Exit(1)
	}
	cache, err := use.connect([]byte(os.Getenv("RECIPE")), strings.Fields(os.Getenv("SERVERS")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l := load{cache: cache}
	key := func(i int) string { return fmt.Sprintf("%s-k%d", os.Getenv("NAME"), i) }
	for i := range 2 * keys { // What fails the first time is stored the second time.
		l.read(key(i % keys))
	}
	l.seen.Start, l.seen.Version = true, use.version()
	l.report()
	for reported := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		l.read(key(rand.IntN(keys)))
		if time.Since(reported) >= time.Second {
			l.report()
			reported = time.Now()
		}
	}
}

// read reads a key and, if it is missing, stores it.
func (l *load) read(key string) {
	l.seen.Reads++
	value := "value of " + key
	var got []byte
	err := l.timed(func() (err error) { got, err = l.cache.get(key); return err })
	switch {
	case errors.Is(err, errMiss):
		l.seen.Misses++
		_ = l.timed(func() error { return l.cache.set(key, value) })
	case err == nil && string(got) != value:
		l.seen.Wrong++
	}
}

func (l *load) timed(call func() error) error {
	start := time.Now()
	err := call()
	l.seen.Longest = max(l.seen.Longest, time.Since(start).Milliseconds())
	if err != nil && !errors.Is(err, errMiss) {
		l.seen.Errors++
		l.seen.Error = err.Error()
	}
	return err
}

func (l *load) report() {
	l.seen.At = float64(time.Now().UnixMilli()) / 1000
	if err := json.NewEncoder(os.Stdout).Encode(l.seen); err != nil {
		os.Exit(1)
	}
	l.seen = seen{}
}

func (p program) version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == p.module {
			return p.name + " " + module.Version
		}
	}
	return p.name
}
