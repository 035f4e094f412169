package users

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseFile makes sure of two things about every list that is accepted: memcached reads the very same users from
// the file that is written, and a client can send each of them.
func FuzzParseFile(f *testing.F) {
	f.Add([]byte("ann:secret\nbob:x\n"))
	f.Add([]byte("ann:a:b\r\n\nbob:ö"))
	f.Add([]byte("ann:" + strings.Repeat("x", 250)))
	f.Add([]byte(strings.Repeat("a:b\n", 9)))
	f.Fuzz(func(t *testing.T, content []byte) {
		list, err := ParseFile(content)
		if err != nil {
			return
		}
		// Memcached 1.6.32 reads one byte more than earlier versions, so it reads a last line without a line end in full.
		for _, spare := range []int{0, 1} {
			if diff := cmp.Diff(pairs(list), asMemcachedReads(File(list), spare)); diff != "" {
				t.Errorf("memcached reads other users (-written +read):\n%s", diff)
			}
		}
		for _, user := range list {
			if words := strings.Split(user.Name+" "+user.Password, " "); len(words) != 2 || words[0] == "" || words[1] == "" {
				t.Errorf("not two words: %q", words)
			}
		}
	})
}

// FuzzParse looks for Secrets that crash the program.
func FuzzParse(f *testing.F) {
	f.Add("ann", "secret")
	f.Fuzz(func(t *testing.T, name, password string) {
		list, err := Parse(secret(KeyUsername, name, KeyPassword, password))
		if err != nil {
			return
		}
		again, err := ParseFile(File(list))
		if diff := cmp.Diff(pairs(list), pairs(again)); err != nil || diff != "" {
			t.Errorf("%v (-written +read):\n%s", err, diff)
		}
	})
}

// pairs returns the users in a form that cmp can print.
func pairs(list []User) (all [][2]string) {
	for _, user := range list {
		all = append(all, [2]string{user.Name, user.Password})
	}
	return all
}

// asMemcachedReads reads a file like authfile_load of memcached, with its buffers: fgets reads lines of at most 255
// bytes into a buffer of the file's size and some spare bytes, and each line overwrites the end of the line before it.
func asMemcachedReads(file []byte, spare int) (all [][2]string) {
	const maxEntryLen, maxEntries = 256, 8
	room := len(file) + spare
	for len(file) > 0 && len(all) < maxEntries {
		line := file[:min(len(file), min(room, maxEntryLen)-1)]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		file = file[len(line):]
		name, rest, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil
		}
		end := strings.IndexAny(rest, "\r\n\x00")
		if end < 0 {
			return append(all, [2]string{name, rest}) // a line without its end is the last one
		}
		all = append(all, [2]string{name, rest[:end]})
		room -= len(name) + 1 + end
	}
	return all
}
