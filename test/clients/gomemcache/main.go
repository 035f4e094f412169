// Command gomemcache uses the client as an application would, and prints each second what it saw, as a line of JSON.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

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
	cache *memcache.Client
	seen  seen
}

func main() {
	cache, err := connect(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l := load{cache: cache}
	key := func(i int) string { return fmt.Sprintf("%s-k%d", os.Getenv("NAME"), i) }
	for i := range 2 * 500 { // What fails the first time is stored the second time.
		l.read(key(i % 500))
	}
	l.seen.Start, l.seen.Version = true, version()
	l.report()
	for reported := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		l.read(key(rand.IntN(500)))
		if time.Since(reported) >= time.Second {
			l.report()
			reported = time.Now()
		}
	}
}

func connect(ctx context.Context) (*memcache.Client, error) {
	servers := strings.Fields(os.Getenv("SERVERS"))
	if os.Getenv("CLIENT") == "new" {
		return New(servers), nil
	}
	client, err := Follow(ctx, servers)
	if err != nil || os.Getenv("CA") == "" {
		return client, err
	}
	authority, err := os.ReadFile(os.Getenv("CA"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: os.Getenv("SERVER_NAME")}
	if !config.RootCAs.AppendCertsFromPEM(authority) {
		return nil, errors.New("the CA is no certificate")
	}
	Secure(client, config, os.Getenv("USERNAME"), os.Getenv("PASSWORD"))
	return client, nil
}

// read reads a key and, if it is missing, stores it.
func (l *load) read(key string) {
	l.seen.Reads++
	value := "value of " + key
	var item *memcache.Item
	err := l.timed(func() (err error) { item, err = l.cache.Get(key); return err })
	switch {
	case errors.Is(err, memcache.ErrCacheMiss):
		l.seen.Misses++
		_ = l.timed(func() error {
			return l.cache.Set(&memcache.Item{Key: key, Value: []byte(value), Expiration: 300})
		})
	case err == nil && string(item.Value) != value:
		l.seen.Wrong++
	}
}

func (l *load) timed(call func() error) error {
	start := time.Now()
	err := call()
	l.seen.Longest = max(l.seen.Longest, time.Since(start).Milliseconds())
	if err != nil && !errors.Is(err, memcache.ErrCacheMiss) {
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

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if strings.HasSuffix(module.Path, "/gomemcache") {
			return "gomemcache " + module.Version
		}
	}
	return "gomemcache"
}
