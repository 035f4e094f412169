package format

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func manifest(t *testing.T) (Manifest, []byte) {
	t.Helper()
	_, end := write(t, large()...)
	m := Manifest{
		Version: Version, Snapshot: "ABC", Cache: "shop", Owner: "an-id", Time: head.Time, Ended: head.Time.Add(time.Minute),
		Slots: []Slot{
			{
				Name: "shop-0", Object: "shop-0.ABC", Size: 1000, End: end,
				LeftOut: LeftOut{Numbers: 1, Stale: 2, Expiring: 3, Unnamed: 4, Failed: 5},
			},
			{Name: "shop-1", Object: "shop-1.ABC", Size: 2000, End: end},
		},
	}
	content, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return m, content
}

func TestAManifestIsReadAsItWasWritten(t *testing.T) {
	want, content := manifest(t)
	got, err := ReadManifest(bytes.NewReader(content))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	if total := got.Total(); total != (Counts{Items: 6, Bytes: 2 * (3 + 2*BlockSize + 4), Blocks: 6}) {
		t.Errorf("in total %+v", total)
	}
	if diff := cmp.Diff([]string{"shop-0", "shop-1"}, got.Names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEachDamageOfAManifestIsFound(t *testing.T) {
	_, content := manifest(t)
	for i := range content {
		if _, err := ReadManifest(bytes.NewReader(content[:i])); err == nil {
			t.Fatalf("%d of %d bytes are taken for a manifest", i, len(content))
		}
		for _, flip := range []byte{0x01, 0x20, 0xff} {
			flipped := bytes.Clone(content)
			flipped[i] ^= flip
			if m, err := ReadManifest(bytes.NewReader(flipped)); err == nil {
				t.Fatalf("byte %d is another, and nobody notices: %+v", i, m)
			}
		}
	}
	if _, err := ReadManifest(strings.NewReader(string(content) + "\n")); err == nil {
		t.Error("nobody notices a byte more")
	}
}
