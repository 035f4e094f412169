package handoff

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseLine calls parseLine with any text, and with lines as memcached writes them: their keys must always be read.
func FuzzParseLine(f *testing.F) {
	f.Add("a", "ts=1.5 gid=1 type=item_store key=a status=stored cmd=set ttl=0 clsid=1 cfd=30 size=1")
	f.Add("a b%", "ts=1.5 gid=1 type=item_get key=a%20 status=not_found clsid=0 cfd=30 size=0")
	f.Add("\xff\x00=", "skipped=5")
	f.Fuzz(func(t *testing.T, key, text string) {
		if l, err := parseLine([]byte(text)); err == nil && l.kind != "" && len(l.key) == 0 {
			t.Errorf("%q is about no key", text)
		}
		if key == "" {
			return
		}
		escaped := strings.ReplaceAll(url.QueryEscape(key), "+", "%20")
		l, err := parseLine([]byte("ts=1.5 gid=1 type=deleted key=" + escaped + " cmd=md clsid=1 size=1"))
		if diff := cmp.Diff(key, string(l.key)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// FuzzParseDump calls parseDump with any text, and with lines as memcached lists them, whose keys must always be read.
// If parseDump accepts a text, its key must be one token, so that it can be requested.
func FuzzParseDump(f *testing.F) {
	f.Add("a", "key=a exp=-1")
	f.Add("a b\r\nEND\r\n", "key=")
	f.Add("%20", "END")
	f.Fuzz(func(t *testing.T, raw, text string) {
		if k, err := parseDump(text); err == nil && (k.token == "" || strings.Contains(k.token, " ")) {
			t.Errorf("%q is the key %q", text, k.token)
		}
		if raw == "" {
			return
		}
		escaped := strings.ReplaceAll(url.QueryEscape(raw), "+", "%20")
		k, err := parseDump("key=" + escaped + " exp=-1 la=1780000000 cas=1 fetch=no cls=1 size=62 flags=0")
		if diff := cmp.Diff(raw, string(k.raw())); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// FuzzKeyOf checks that memcached reads the same key from the token of any key.
func FuzzKeyOf(f *testing.F) {
	f.Add([]byte("a"))
	f.Add([]byte("a b"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		k := keyOf(raw)
		got := []byte(k.token)
		if k.binary {
			got, _ = base64.StdEncoding.DecodeString(k.token)
		}
		if diff := cmp.Diff(string(raw), string(got)); diff != "" || strings.ContainsAny(k.token, " \r\n\x00") {
			t.Errorf("%q (-want +got):\n%s", k.token, diff)
		}
	})
}
