package handoff

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASpoolHasTheKeysInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var want []key
	for _, raw := range []string{"a", "a b", strings.Repeat("k", maxToken), "\xff", "\r\n"} {
		want = append(want, keyOf([]byte(raw)))
		if err := s.add(dumped{key: keyOf([]byte(raw))}); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("others can open %v: %v", files, err)
	}
	var got []key
	err = s.each(all(), func(k listed) error { got = append(got, k.key); return nil })
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(key{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	full := errors.New("the disk is full")
	if err := s.each(all(), func(listed) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
}
