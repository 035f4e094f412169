package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheImagesOfAReleaseAreNamedForThoseWhoSign(t *testing.T) {
	one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
	release := `{"images": [
		{"repository": "registry.example.com/a", "tag": "1", "digest": "sha256:` + one + `"},
		{"repository": "registry.example.com/b", "tag": "1", "digest": "sha256:` + two + `"}]}`
	tests := map[string]struct {
		release string
		args    []string
		want    string
		err     string
	}{
		"by digest":      {release, nil, "registry.example.com/a@sha256:" + one + "\nregistry.example.com/b@sha256:" + two + "\n", ""},
		"as checksums":   {release, []string{"--sums"}, one + "  registry.example.com/a\n" + two + "  registry.example.com/b\n", ""},
		"no image":       {`{"images": []}`, nil, "", "lists no image"},
		"no JSON":        {`{`, nil, "", "release.json: "},
		"no such folder": {"", nil, "", "make one by make release OUT="},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.release != "" {
				if err := os.WriteFile(filepath.Join(dir, "release.json"), []byte(tc.release), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := run(t, append([]string{"refs", "--dir", dir}, tc.args...)...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}
