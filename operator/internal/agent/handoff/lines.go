package handoff

// Reads what a line of memcached's log says about an item.

import (
	"bytes"
	"fmt"
	"strconv"
)

// Types of log lines that are about an item. Memcached has more types.
const (
	typeStore  = "item_store"
	typeGet    = "item_get"
	typeDelete = "deleted"
)

// line has the information about an item in a line of memcached's log, such as
//
//	ts=1.5 gid=7 type=item_store key=a status=stored cmd=set ttl=0 clsid=1 cfd=30 size=1
type line struct {
	kind   string // one of the types above; empty for any other
	key    []byte // shares the memory of the line
	status string
	cfd    int // memcached's descriptor of the connection; -1 if the line has none
}

// parseLine reads a line that has no line end, and may overwrite the memory of text.
func parseLine(text []byte) (line, error) {
	l := line{cfd: -1}
	for field := range bytes.SplitSeq(text, []byte(" ")) {
		name, value, ok := bytes.Cut(field, []byte("="))
		if !ok {
			continue
		}
		switch string(name) {
		case "type":
			l.kind = oneOf(value, typeStore, typeGet, typeDelete)
		case "key":
			l.key = unescape(value)
		case "status":
			l.status = oneOf(value, "stored", "found", "too_large", "no_memory")
		case "cfd":
			cfd, err := strconv.Atoi(string(value))
			if err != nil {
				return line{}, fmt.Errorf("memcached logs the connection %q", value)
			}
			l.cfd = cfd
		}
	}
	if l.kind != "" && len(l.key) == 0 {
		return line{}, fmt.Errorf("memcached logs %q without a key", l.kind)
	}
	return l, nil
}

// oneOf returns the word that equals the text, or "" if no word does. It allocates no memory.
func oneOf(text []byte, words ...string) string {
	for _, word := range words {
		if string(text) == word {
			return word
		}
	}
	return ""
}

// changed reports whether the item may differ from now on: a connection of a client, not of the agent, stored it,
// deleted it, or found that memcached does not have it. A missing item counts because memcached does not log the
// deletion of a key that it does not have, while the other memcached may have the key.
func (l line) changed(own map[int]bool) bool {
	switch l.kind {
	case typeDelete:
		return true // by a client, because this package sends no deletions
	case typeGet:
		return l.status != "found" && !own[l.cfd]
	case typeStore:
		// If a new item is too large, memcached removes the old one, and logs a random connection for it.
		return l.status == "stored" && !own[l.cfd] || l.status == "too_large" || l.status == "no_memory"
	}
	return false
}

// unescape decodes %XX in place. Memcached escapes all characters of a key except letters, digits and -._~.
func unescape(text []byte) []byte {
	out := text[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if high, low := unhex(text[i+1]), unhex(text[i+2]); high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

func unhex(digit byte) int {
	switch {
	case '0' <= digit && digit <= '9':
		return int(digit - '0')
	case 'a' <= digit && digit <= 'f':
		return int(digit-'a') + 10
	case 'A' <= digit && digit <= 'F':
		return int(digit-'A') + 10
	}
	return -1
}
