package format

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReader reads any content that a bucket may have. If an object is read without an error, the test writes its items
// again: the new end must have the same counts.
func FuzzReader(f *testing.F) {
	for _, items := range [][]Item{nil, {{Key: []byte("a"), Value: []byte("v")}}, large()} {
		object, _ := write(f, items...)
		f.Add(object)
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, object []byte) {
		items, end, err := read(bytes.NewReader(object))
		if err != nil {
			return
		}
		if _, again := write(t, items...); again.Items != end.Items || again.Bytes != end.Bytes {
			t.Errorf("the end says %+v, and there are %+v", end, again)
		}
	})
}

// FuzzCutItem reads any content of a block. If an item is found, the test writes it again: the same item must then be
// found.
func FuzzCutItem(f *testing.F) {
	f.Add(appendItem(nil, Item{Key: []byte("a"), Value: []byte("v"), Flags: 7, Expires: 1780000000, Used: 1770000000}))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, block []byte) {
		i, rest, ok := cutItem(block)
		if !ok {
			return
		}
		again, more, ok := cutItem(append(appendItem(nil, i), rest...))
		if diff := cmp.Diff(i, again); !ok || diff != "" || !bytes.Equal(rest, more) {
			t.Errorf("(-read +again):\n%s", diff)
		}
	})
}

// FuzzManifest reads any content that a bucket may have.
func FuzzManifest(f *testing.F) {
	content, err := Manifest{Snapshot: "A", Slots: []Slot{{Name: "shop-0"}}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := ReadManifest(bytes.NewReader(content))
		if err != nil {
			return
		}
		if again, err := m.Encode(); err != nil || !bytes.Equal(content, again) {
			t.Errorf("%v: it is written as %s", err, again)
		}
	})
}
