package format

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var head = Head{
	Version: Version, Snapshot: "ABC", Cache: "shop", Time: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC),
	Slots: []string{"shop-0", "shop-1"}, Slot: "shop-1",
}

// write returns an object with these items, and its end.
func write(t testing.TB, items ...Item) ([]byte, End) {
	t.Helper()
	var object bytes.Buffer
	w, err := NewWriter(&object, head)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if err := w.Write(i); err != nil {
			t.Fatal(err)
		}
	}
	end, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return object.Bytes(), end
}

// read returns the items of an object until its end, or an error.
func read(object io.Reader) (items []Item, end End, err error) {
	r, err := NewReader(object)
	if err != nil {
		return nil, End{}, err
	}
	for {
		i, err := r.Next()
		if errors.Is(err, io.EOF) {
			return items, r.End(), nil
		}
		if err != nil {
			return items, r.End(), err
		}
		i.Key, i.Value = bytes.Clone(i.Key), bytes.Clone(i.Value)
		items = append(items, i)
	}
}

// noise returns bytes that compression does not make smaller.
func noise(size int) []byte {
	value, state := make([]byte, size), uint32(1)
	for i := range value {
		state = state*1664525 + 1013904223
		value[i] = byte(state >> 24)
	}
	return value
}

// large returns items of three blocks, which are small after compression.
func large() []Item {
	zeros := make([]byte, BlockSize)
	return []Item{
		{Key: []byte("a"), Value: zeros},
		{Key: []byte("b"), Value: zeros, Flags: 5},
		{Key: []byte("c"), Value: []byte("last"), Expires: 1780000000},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	key := bytes.Repeat([]byte("k"), MaxKey)
	for name, items := range map[string][]Item{
		"nothing":                   nil,
		"an empty value":            {{Key: []byte("a"), Value: []byte{}}},
		"all fields":                {{Key: []byte("a"), Value: []byte("v"), Flags: 7, Expires: 1780000000, Used: 1770000000}},
		"the largest fields":        {{Key: key, Value: []byte{0}, Flags: math.MaxUint32, Expires: math.MaxInt64, Used: math.MaxInt64}},
		"a key of bytes":            {{Key: []byte("a b\r\n\x00\xff"), Value: []byte("\r\nEND\r\n")}},
		"several blocks":            large(),
		"a value that packs badly":  {{Key: []byte("a"), Value: noise(3 * BlockSize)}, {Key: []byte("b"), Value: []byte("v")}},
		"a large value, then small": {{Key: []byte("a"), Value: make([]byte, 5*BlockSize)}, {Key: []byte("b"), Value: []byte("v")}},
	} {
		t.Run(name, func(t *testing.T) {
			object, want := write(t, items...)
			got, end, err := read(bytes.NewReader(object))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(items, got); diff != "" {
				t.Errorf("(-written +read):\n%.2000s", diff)
			}
			if diff := cmp.Diff(want, end); diff != "" || int(end.Items) != len(items) {
				t.Errorf("the end (-written +read):\n%s", diff)
			}
		})
	}
}

func TestTheHeadIsRead(t *testing.T) {
	object, _ := write(t)
	r, err := NewReader(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(head, r.Head); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestAnItemThatNoReaderTakesIsRefused(t *testing.T) {
	w, err := NewWriter(io.Discard, head)
	if err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]Item{
		"without a key":       {},
		"with a long key":     {Key: make([]byte, MaxKey+1)},
		"that expired before": {Key: []byte("a"), Expires: -1},
	} {
		if w.Write(i) == nil {
			t.Errorf("an item %s is written", name)
		}
	}
}

func TestEachTruncationIsFound(t *testing.T) {
	object, _ := write(t, large()...)
	for size := range object {
		if _, end, err := read(bytes.NewReader(object[:size])); !errors.Is(err, ErrCut) || end != (End{}) {
			t.Fatalf("%d of %d bytes: %v, error %v", size, len(object), end, err)
		}
	}
}

func TestEachFlippedByteIsFound(t *testing.T) {
	object, _ := write(t, large()...)
	for i := range object {
		for _, flip := range []byte{0x01, 0x20, 0xff} {
			flipped := bytes.Clone(object)
			flipped[i] ^= flip
			if _, end, err := read(bytes.NewReader(flipped)); err == nil || end != (End{}) {
				t.Fatalf("byte %d of %d is another, and nobody notices: %v", i, len(object), end)
			}
		}
	}
}

// TestNoItemOfADamagedBlockIsReturned: otherwise, a restore would store it.
func TestNoItemOfADamagedBlockIsReturned(t *testing.T) {
	object, _ := write(t, Item{Key: []byte("good"), Value: noise(BlockSize)}, Item{Key: []byte("bad"), Value: noise(BlockSize)})
	object[len(object)-BlockSize] ^= 1
	items, _, err := read(bytes.NewReader(object))
	if err == nil || len(items) != 1 || string(items[0].Key) != "good" {
		t.Errorf("%d items, error %v", len(items), err)
	}
}

// frames returns the frames of an object.
func frames(t *testing.T, object []byte) (all [][]byte) {
	t.Helper()
	from := bytes.NewReader(object)
	var buffer bytes.Buffer
	for from.Len() > 0 {
		f, err := readFrame(from, uint32(len(all)), &buffer) //nolint:gosec // A few.
		if err != nil {
			t.Fatal(err)
		}
		end := len(object) - from.Len()
		all = append(all, object[end-len(f.content)-headerSize:end])
	}
	return all
}

func TestBlocksInAnotherOrderAreFound(t *testing.T) {
	object, _ := write(t, large()...)
	other, _ := write(t, Item{Key: []byte("x"), Value: make([]byte, BlockSize)})
	all, others := frames(t, object), frames(t, other)
	for name, order := range map[string][][]byte{
		"one is missing":              {all[0], all[1], all[3], all[4]},
		"the last one is missing":     {all[0], all[1], all[2], all[4]},
		"two are exchanged":           {all[0], all[2], all[1], all[3], all[4]},
		"one is there twice":          {all[0], all[1], all[1], all[2], all[3], all[4]},
		"one is of another object":    {all[0], others[1], all[2], all[3], all[4]},
		"the head is missing":         {all[1], all[2], all[3], all[4]},
		"the end is missing":          {all[0], all[1], all[2], all[3]},
		"another object follows":      {object, other},
		"the end is of another one":   {all[0], all[1], others[2]},
		"a byte follows":              {object, {0}},
		"there is nothing but an end": {all[4]},
	} {
		t.Run(name, func(t *testing.T) {
			if _, end, err := read(bytes.NewReader(slices.Concat(order...))); err == nil || end != (End{}) {
				t.Errorf("nobody notices: %v", end)
			}
		})
	}
}

func TestAnErrorOfTheStreamIsReturned(t *testing.T) {
	object, _ := write(t, large()...)
	broken := errors.New("the connection is broken")
	for _, size := range []int{0, 10, 200, len(object) - 1, len(object)} {
		_, _, err := read(io.MultiReader(bytes.NewReader(object[:size]), failing{broken}))
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", size, err)
		}
	}
	if _, err := NewWriter(failing{broken}, head); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestAnotherVersionIsNamed(t *testing.T) {
	object, _ := write(t)
	content := bytes.Replace(frames(t, object)[0][headerSize:], []byte(`"version":1`), []byte(`"version":2`), 1)
	f := frame{kind: kindHead, content: content, plain: len(content)}
	_, err := NewReader(bytes.NewReader(append(f.header(0), content...)))
	if err == nil || !strings.Contains(err.Error(), "another version") {
		t.Error(err)
	}
}

func BenchmarkSmallItems(b *testing.B) {
	w, err := NewWriter(io.Discard, head)
	if err != nil {
		b.Fatal(err)
	}
	i := Item{Key: []byte("user:1234567:profile"), Value: []byte("value 1234567 of some length, as small values have")}
	b.SetBytes(int64(len(i.Key) + len(i.Value)))
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(i); err != nil {
			b.Fatal(err)
		}
	}
}
