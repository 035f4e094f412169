// Package format defines the content of a snapshot of a cache: one object with the items of each server, and a manifest
// that is written last and names all these objects. The package only reads and writes streams: it knows neither
// memcached nor the place where objects are kept.
//
// An object is a sequence of frames: a head, blocks of items, and an end. Each frame has a number and two checksums, so
// that no item of a damaged block is ever returned. The end has the counts of all items, and the SHA-256 of everything
// before the end. The manifest has both, too. So a reader notices if an object was cut off, or belongs to another
// attempt to save.
package format

import (
	"errors"
	"fmt"
	"time"
)

// Version is the version of the format. A reader refuses any other version.
const Version = 1

// Limits of an item, which a reader also checks.
const (
	MaxKey   = 250
	MaxValue = 1<<30 - 1
)

// Item is an item of a memcached.
type Item struct {
	// Key is the key as it is: not base64.
	Key []byte

	// Flags are the flags that the client stored with the item.
	Flags uint32

	// Expires is when the item expires, in seconds since 1970; 0 is never.
	Expires int64

	// Used is when a client last read or wrote the item, in seconds since 1970; 0 is unknown.
	Used int64

	Value []byte
}

// Head begins an object.
type Head struct {
	Version int `json:"version"`

	// Snapshot identifies the snapshot: all objects of a snapshot have the same value, which no other snapshot has.
	Snapshot string `json:"snapshot"`

	// Cache is the name of the cache.
	Cache string `json:"cache"`

	// Time is when the snapshot began.
	Time time.Time `json:"time"`

	// Slots are the names of all servers, in the order in which clients list them.
	Slots []string `json:"slots"`

	// Slot is the name of the server whose items follow.
	Slot string `json:"slot"`
}

// Counts are the numbers of items and bytes in an object.
type Counts struct {
	Items  int64 `json:"items"`
	Bytes  int64 `json:"bytes"` // of keys and values
	Blocks int64 `json:"blocks"`
}

// End ends an object.
type End struct {
	Counts

	// SHA256 is the checksum of everything before the end, in hexadecimal digits.
	SHA256 string `json:"sha256"`
}

// ErrCut means that a stream ends before its end frame.
var ErrCut = errors.New("it is cut off")

// damaged returns an error about content that no Writer writes.
func damaged(format string, values ...any) error {
	return fmt.Errorf("it is damaged: "+format, values...)
}
