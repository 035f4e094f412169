package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("early\n", 50) + "late\n"
	tests := map[string]struct {
		content      string
		want, absent string
	}{
		"a short log is shown whole":        {"one\ntwo\n", "  one\n  two\n", ""},
		"of a long log only the end":        {long, "  late\n", strings.Repeat("  early\n", 12)},
		"where the rest is, is always said": {"", "x.log)", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.log")
			if err := os.WriteFile(path, []byte(tc.content), 0o644); err != nil {
				t.Fatal(err)
			}
			got := Tail(path)
			if !strings.Contains(got, tc.want) || tc.absent != "" && strings.Contains(got, tc.absent) {
				t.Errorf("Tail() = %q, want %q in it", got, tc.want)
			}
		})
	}
}
