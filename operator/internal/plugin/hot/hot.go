// Package hot finds the keys that clients read most. It is pure.
package hot

import (
	"cmp"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

// Key is a key that clients read.
type Key struct {
	reach.Server

	Key    string `json:"key"`
	Base64 string `json:"keyBase64,omitempty"` // if JSON can't have the key

	Reads int     `json:"reads"`
	Rate  float64 `json:"readsPerSecond"`

	// Share is the part of the server's reads that are reads of this key.
	Share float64 `json:"share"`

	HitRatio float64 `json:"hitRatio"`

	// Size is the size of the last value, in bytes.
	Size int `json:"size"`
}

// Counter counts the reads of a server. It needs memory for each key, so the number of lines that are read is limited.
type Counter struct {
	reads int
	keys  map[string]*count
}

type count struct{ reads, hits, size int }

// Count counts a use, if it is a read.
func (c *Counter) Count(u uselog.Use) {
	if !u.Read {
		return
	}
	if c.keys == nil {
		c.keys = map[string]*count{}
	}
	counted := c.keys[u.Key]
	if counted == nil {
		counted = &count{}
		c.keys[u.Key] = counted
	}
	c.reads++
	counted.reads++
	if u.Found {
		counted.hits++
		counted.size = u.Size
	}
}

// Keys returns the keys of a server that were read most, at most this many. took is how long the server was observed.
func (c *Counter) Keys(server reach.Server, took time.Duration, most int) []Key {
	var keys []Key
	for key, counted := range c.keys {
		keys = append(keys, Key{
			Server: server, Key: key, Base64: owner.Base64(key), Reads: counted.reads,
			Rate:  float64(counted.reads) / took.Seconds(),
			Share: float64(counted.reads) / float64(c.reads), HitRatio: float64(counted.hits) / float64(counted.reads),
			Size: counted.size,
		})
	}
	return Most(keys, most)
}

// Most returns the keys with the highest rates, at most this many.
func Most(keys []Key, most int) []Key {
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Pod, b.Pod))
	})
	return keys[:min(most, len(keys))]
}
