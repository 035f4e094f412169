package main

import (
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// New connects by the names of the slots in mode ClusterIP, such as "shop-0.team.svc:11211". The addresses of these
// names never change.
func New(servers []string) *memcache.Client {
	client := memcache.New(servers...)
	client.Timeout = 500 * time.Millisecond
	return client
}
