// Package owner finds the slot that clients choose for a key. It is pure.
package owner

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/example-inc/memcached-operator/operator/clienthash"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Owner is the slot that clients choose for a key.
type Owner struct {
	Key     string `json:"key"`
	Base64  string `json:"keyBase64,omitempty"` // if JSON can't have the key
	Slot    string `json:"slot"`
	Address string `json:"address"`
	Pod     string `json:"pod,omitempty"`
	State   string `json:"state,omitempty"`
	Hash    string `json:"hash"`
}

// longestKey is memcached's limit, in bytes.
const longestKey = 250

// Of returns the owners of keys in a cache. If no hash is given, the hash of the spec is used.
func Of(mc *cachev1.Memcached, hash string, keys []string) ([]Owner, error) {
	slots := mc.Status.Slots
	if len(slots) == 0 {
		return nil, fmt.Errorf("the Memcached %s/%s has no slots, so clients choose among addresses of Pods that change: "+
			"set spec.slots", mc.Namespace, mc.Name)
	}
	if mc.Spec.Slots != nil {
		hash = cmp.Or(hash, string(mc.Spec.Slots.ClientHash))
	}
	algorithm, err := algorithmOf(hash)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, slot := range slots {
		if slot.Address == "" {
			return nil, fmt.Errorf("slot %s has no address yet: try again once it has one", slot.Name)
		}
		addresses = append(addresses, slot.Address)
	}
	choose, err := clienthash.New(algorithm, addresses)
	if err != nil {
		return nil, err
	}
	var owners []Owner
	for _, key := range keys {
		slot := slots[choose([]byte(key))]
		owners = append(owners, Owner{
			Key: key, Base64: Base64(key), Slot: slot.Name, Address: slot.Address, Pod: slot.Pod,
			State: string(slot.State), Hash: string(algorithm),
		})
	}
	return owners, nil
}

// algorithmOf finds a hash by its name, in upper or lower case.
func algorithmOf(name string) (clienthash.Algorithm, error) {
	if name == "" {
		return "", fmt.Errorf("spec.slots.clientHash is not set, so the operator does not know how clients choose: "+
			"add --hash with one of %s", Hashes())
	}
	for _, algorithm := range clienthash.Algorithms {
		if strings.EqualFold(name, string(algorithm)) {
			return algorithm, nil
		}
	}
	return "", fmt.Errorf("--hash %q is unknown: write one of %s", name, Hashes())
}

// Hashes names all hashes.
func Hashes() string {
	var all []string
	for _, algorithm := range clienthash.Algorithms {
		all = append(all, string(algorithm))
	}
	return strings.Join(all, ", ")
}

// Keys returns keys from arguments, as they are or in base64. It refuses keys that memcached refuses. Without base64,
// it also refuses keys that clients can't send with the text protocol.
func Keys(arguments []string, inBase64 bool) ([]string, error) {
	var keys []string
	for _, argument := range arguments {
		key := []byte(argument)
		if inBase64 {
			var err error
			if key, err = base64.StdEncoding.DecodeString(argument); err != nil {
				return nil, fmt.Errorf("KEY %q is not in base64, which --base64 requires: %w", argument, err)
			}
		}
		switch {
		case len(key) == 0:
			return nil, fmt.Errorf("KEY %q is empty: memcached has no such key", argument)
		case len(key) > longestKey:
			return nil, fmt.Errorf("KEY %q has %d bytes, and memcached accepts at most %d: give the key as the client sends "+
				"it, which may be a hash of yours", argument, len(key), longestKey)
		case !inBase64 && bytes.ContainsFunc(key, isOdd):
			return nil, fmt.Errorf("KEY %q has a space or a control character, with which only some clients store keys: "+
				"give the key as the client sends it, in base64 with --base64", argument)
		}
		keys = append(keys, string(key))
	}
	return keys, nil
}

// Base64 returns a key in base64 if it has bytes for which JSON or the text protocol requires base64; empty for other
// keys.
func Base64(key string) string {
	if utf8.ValidString(key) && !strings.ContainsFunc(key, isOdd) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(key))
}

func isOdd(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
