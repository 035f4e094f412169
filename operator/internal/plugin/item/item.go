// Package item reads what a memcached server holds for a key.
package item

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// Item is what a server holds for a key.
type Item struct {
	Found bool `json:"found"`

	// Size is the size of the value, in bytes.
	Size int `json:"size"`

	// Flags are the flags that the client stored. Most libraries use them to say how the value is encoded.
	Flags uint64 `json:"flags"`

	// Read: a client has read the item since it was stored.
	Read bool `json:"read"`

	// LastAccess is how long ago the item was stored, read or touched last.
	LastAccess Duration `json:"lastAccessSeconds"`

	// TTL is after what time the item expires; nil if it never does.
	TTL *Duration `json:"ttlSeconds,omitempty"`

	// Value is nil unless it was requested.
	Value []byte `json:"value,omitempty"`
}

// Duration is written to JSON as a number of seconds.
type Duration struct{ time.Duration }

// MarshalJSON writes the seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(d.Seconds()), 10), nil
}

// largest limits how many bytes of a value are read: the largest item size that memcached's option -I accepts.
const largest = 1 << 30

// longestBase64 is memcached's limit of a key in base64, in bytes.
const longestBase64 = 250

// Read reads an item with a meta get. With the flag u, the read changes neither the item's place in the LRU list nor
// its last access. The flag b means that the key is in base64.
func Read(key string, withValue bool) func(context.Context, *reach.Connection) (Item, error) {
	request := "mg " + key + " s t f h l u"
	encoded := owner.Base64(key)
	if encoded != "" {
		request = "mg " + encoded + " s t f h l u b"
	}
	if withValue {
		request += " v"
	}
	return func(_ context.Context, connection *reach.Connection) (Item, error) {
		if len(encoded) > longestBase64 {
			return Item{}, fmt.Errorf("the key has %d bytes in base64, and memcached accepts at most %d",
				len(encoded), longestBase64)
		}
		if _, err := io.WriteString(connection, request+"\r\n"); err != nil {
			return Item{}, fmt.Errorf("memcached accepts no commands: %w", err)
		}
		return parse(bufio.NewReader(connection)) // The reader can't buffer another answer, because only one was requested.
	}
}

func parse(reader *bufio.Reader) (Item, error) {
	line, err := reader.ReadString('\n')
	if err != nil {
		return Item{}, fmt.Errorf("memcached stopped answering: %w", err)
	}
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
	case words[0] == "EN":
		return Item{}, nil
	case words[0] == "HD":
		return parseFlags(words[1:])
	case words[0] == "VA" && len(words) > 1:
		found, err := parseFlags(words[2:])
		if err != nil {
			return found, err
		}
		found.Value, err = value(reader, words[1])
		return found, err
	}
	return Item{}, fmt.Errorf("memcached answers %.200q to a meta get: it needs memcached 1.6 or newer", line)
}

// parseFlags reads the flags of an answer, such as s5 t-1 f7 h0 l2.
func parseFlags(words []string) (Item, error) {
	found := Item{Found: true}
	for _, word := range words {
		number, err := strconv.ParseInt(word[1:], 10, 64)
		if err != nil && strings.ContainsAny(word[:1], "stfhl") {
			return found, fmt.Errorf("memcached answers the flag %.50q: %w", word, err)
		}
		switch word[0] {
		case 's':
			found.Size = int(number)
		case 't':
			if number >= 0 {
				found.TTL = &Duration{time.Duration(number) * time.Second}
			}
		case 'f':
			found.Flags = uint64(number)
		case 'h':
			found.Read = number == 1
		case 'l':
			found.LastAccess = Duration{time.Duration(number) * time.Second}
		}
	}
	return found, nil
}

func value(reader io.Reader, size string) ([]byte, error) {
	length, err := strconv.Atoi(size)
	if err != nil || length < 0 || length > largest {
		return nil, fmt.Errorf("memcached announces a value of %.50q bytes", size)
	}
	content := make([]byte, length+len("\r\n"))
	if _, err := io.ReadFull(reader, content); err != nil {
		return nil, fmt.Errorf("memcached stopped in the middle of a value: %w", err)
	}
	if string(content[length:]) != "\r\n" {
		return nil, errors.New("memcached sends more than it announced")
	}
	return content[:length], nil
}
