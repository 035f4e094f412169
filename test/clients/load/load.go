// Package load uses a client as an application would, and prints each second what it saw, as a line of JSON.
package load

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

// keys is how many keys a program stores.
const keys = 500

// Expiry is how long a key stays in the cache.
const Expiry = 5 * time.Minute

// Cache is a memcached client.
type Cache interface {
	// Get returns ErrMiss for a key that is missing.
	Get(key string) (value []byte, err error)
	Set(key, value string) error
}

// ErrMiss is the error of a key that is missing.
var ErrMiss = errors.New("miss")

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
	cache Cache
	seen  seen
}

// Run uses the cache until the program is killed.
func Run(cache Cache, version string) {
	l := load{cache: cache}
	key := func(i int) string { return fmt.Sprintf("%s-k%d", os.Getenv("NAME"), i) }
	for i := range 2 * keys { // A key that could not be stored the first time is stored the second time.
		l.read(key(i % keys))
	}
	l.seen.Start, l.seen.Version = true, version
	l.report()
	for reported := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		l.read(key(rand.IntN(keys)))
		if time.Since(reported) >= time.Second {
			l.report()
			reported = time.Now()
		}
	}
}

// Exit prints the reason why the program cannot use its cache, and ends the program.
func Exit(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}

// Servers returns the addresses to which the program connects, from the environment.
func Servers() []string { return strings.Fields(os.Getenv("SERVERS")) }

// Version returns this name, which is for people, and the version of the module with which the program is built.
func Version(name, module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return name + " " + dependency.Version
		}
	}
	return name
}

// read reads a key and, if it is missing, stores it.
func (l *load) read(key string) {
	l.seen.Reads++
	value := "value of " + key
	var got []byte
	err := l.timed(func() (err error) { got, err = l.cache.Get(key); return err })
	switch {
	case errors.Is(err, ErrMiss):
		l.seen.Misses++
		_ = l.timed(func() error { return l.cache.Set(key, value) })
	case err == nil && string(got) != value:
		l.seen.Wrong++
	}
}

func (l *load) timed(call func() error) error {
	start := time.Now()
	err := call()
	l.seen.Longest = max(l.seen.Longest, time.Since(start).Milliseconds())
	if err != nil && !errors.Is(err, ErrMiss) {
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
