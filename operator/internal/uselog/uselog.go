// Package uselog reads the lines that memcached sends to a connection that watches what its clients read, store and
// delete. It is pure.
//
// A dump of all keys by the LRU crawler would show when each key was used last, but not how often. It would also read
// the whole memory, and keep the crawler from expiring items and from handing keys over in that time. A watched log
// makes no client wait: memcached skips lines if they are not read fast enough. It costs memcached the CPU time of
// formatting a line for each request.
package uselog

import (
	"bytes"
	"net/url"
	"strconv"
)

// Watch is the command after which memcached sends the log, and Watched its answer. With WatchAll, memcached also logs
// deletions. Memcached 1.6.18 does not support this, and gives another answer.
const (
	Watch    = "watch fetchers mutations\r\n"
	WatchAll = "watch fetchers mutations deletions\r\n"
	Watched  = "OK\r\n"
)

// Use is a line of the log: a client has read a key, stored it, or deleted it. Increments and touches are logged as
// reads, and deletions as well unless they are watched.
type Use struct {
	Key           string
	Escaped       string // the key as memcached logs it
	Read, Deleted bool   // neither: it was stored
	Found         bool
	Size          int    // of the value; 0 if memcached does not log it, or did not find the key
	Class         int    // of slabs; 0 if it did not find the key
	TTL           int64  // of the stored item, in seconds; 0 if it does not expire, more than 1<<31 if it has expired
	Connection    string // empty for a deletion, for which memcached does not log it
}

// Begin is the beginning of a line about a key. A program that samples keys needs only this part of most lines.
type Begin struct {
	Read, Deleted bool
	Key           []byte // as memcached escapes it, until the line is overwritten
	rest          []byte
}

// Cut reads the beginning of a line such as
//
//	ts=1.5 gid=7 type=item_get key=a%20b status=found clsid=1 cfd=30 size=1
func Cut(line []byte) (b Begin, ok bool) {
	_, after, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" type="))
	kind, after, more := bytes.Cut(after, []byte(" key="))
	if !found || !more {
		return b, false
	}
	switch string(kind) {
	case "item_get":
		b.Read = true
	case "deleted":
		b.Deleted = true
	case "item_store":
	default:
		return b, false
	}
	b.Key, b.rest, _ = bytes.Cut(after, []byte(" "))
	return b, len(b.Key) > 0
}

// Found reports whether a read found its item.
func (b Begin) Found() bool { return bytes.HasPrefix(b.rest, []byte("status=found ")) }

// Use reads the rest of the line.
func (b Begin) Use() Use {
	escaped := string(b.Key)
	u := Use{Key: escaped, Escaped: escaped, Read: b.Read, Deleted: b.Deleted}
	if key, err := url.PathUnescape(escaped); err == nil {
		u.Key = key
	}
	for rest := b.rest; len(rest) > 0; {
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte(" "))
		name, value, _ := bytes.Cut(field, []byte("="))
		switch string(name) {
		case "status":
			u.Found = string(value) == "found" || string(value) == "stored"
		case "cfd":
			u.Connection = string(value)
		case "size":
			u.Size = int(number(value))
		case "clsid":
			u.Class = int(number(value))
		case "ttl":
			u.TTL = number(value)
		}
	}
	return u
}

// Skipped reads a line that says how many lines memcached has not logged.
func Skipped(line []byte) (count int, ok bool) {
	value, ok := bytes.CutPrefix(line, []byte("skipped="))
	return int(number(bytes.TrimRight(value, "\r\n"))), ok
}

func number(text []byte) int64 {
	value, _ := strconv.ParseInt(string(text), 10, 64)
	return max(0, value)
}

// Filter passes the uses of clients to a function. It drops the read that memcached itself makes and logs before it
// stores or deletes a key.
type Filter struct {
	Pass func(Use)

	held    Use // until the next line shows whether a client made it
	holding bool
}

// Add adds a use. Callers may leave out the uses of some keys.
func (f *Filter) Add(u Use) {
	if f.holding && !u.Read && u.Key == f.held.Key && (u.Deleted || u.Connection == f.held.Connection) {
		f.holding = false
	}
	f.Flush()
	f.held, f.holding = u, true
}

// Flush passes the last use to the function, when no line follows.
func (f *Filter) Flush() {
	if f.holding {
		f.Pass(f.held)
	}
	f.holding = false
}
