package handoff

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// maxToken is the longest key that memcached takes in a command.
const maxToken = 250

// key is a key in the form in which a command has it.
type key struct {
	token  string
	binary bool // the token is base64
}

// isBinary reports whether a key can only be written as base64: it has a blank or a line end.
func isBinary(raw []byte) bool { return bytes.ContainsAny(raw, " \r\n\x00") }

// isUnnamed reports whether no command can name the item of a key: only the binary protocol can store or read it. Such
// an item is neither copied nor followed.
func isUnnamed(raw []byte) bool {
	return base64.StdEncoding.EncodedLen(len(raw)) > maxToken && isBinary(raw)
}

// keyOf returns the key of these bytes.
func keyOf(raw []byte) key {
	if isBinary(raw) {
		return key{base64.StdEncoding.EncodeToString(raw), true}
	}
	return key{token: string(raw)}
}

// raw returns the bytes of the key.
func (k key) raw() []byte {
	if k.binary {
		if raw, err := base64.StdEncoding.DecodeString(k.token); err == nil {
			return raw
		}
	}
	return []byte(k.token)
}

// flag is the flag that a command with the key needs.
func (k key) flag() string {
	if k.binary {
		return "b "
	}
	return ""
}

// removal is the command that removes the item of a key, if memcached has one: it stores an item that has expired. A
// store is used because its log line names the connection, so the agent recognizes its own removals. The log line of a
// deletion does not name the connection.
func (k key) removal() string { return "ms " + k.token + " 0 " + k.flag() + "T-1 MR q\r\n\r\n" }

// dumpedKey is the beginning of a line of a dump.
const dumpedKey = "key="

// dumped has the information about an item in a dump.
type dumped struct {
	key

	used int64 // when a client last used it, in seconds since 1970 by memcached's clock; 0 is unknown
	read bool  // a client has read it since it was stored
	size int64 // bytes in memcached; 0 is unknown
}

// parseDump reads a line of `lru_crawler metadump`, such as "key=a%20b exp=-1 la=1780000000 cas=1 fetch=no cls=1
// size=62".
func parseDump(text string) (dumped, error) {
	escaped, rest, ok := strings.Cut(text, " ")
	raw := unescape([]byte(strings.TrimPrefix(escaped, dumpedKey)))
	if !ok || !strings.HasPrefix(text, dumpedKey) || len(raw) == 0 {
		return dumped{}, fmt.Errorf("memcached lists %.300q", text)
	}
	d := dumped{key: keyOf(raw)}
	for field := range strings.SplitSeq(rest, " ") {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "la":
			d.used, _ = strconv.ParseInt(value, 10, 64)
		case "fetch":
			d.read = value == "yes"
		case "size":
			d.size, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return d, nil
}
