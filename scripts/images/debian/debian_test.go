package debian

import (
	"strings"
	"testing"
)

func TestUpstreamVersions(t *testing.T) {
	tests := map[string]string{
		"1.6.18-1+deb12u1":    "1.6.18",
		"1:4.13+dfsg1-1":      "4.13+dfsg1",
		"2.1.12-stable-8":     "2.1.12-stable",
		"1.35":                "1.35",
		"3.0.20-1~deb12u2+b1": "3.0.20",
	}
	for version, want := range tests {
		if got := upstream(version); got != want {
			t.Errorf("upstream(%q) = %q, want %q", version, got, want)
		}
	}
}

func TestTheErrorWithoutAptNamesItAndDebiansArchitecture(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Unpack(t.Context(), t.TempDir(), Request{Package: "memcached", Architecture: "ppc64le"})
	if err == nil || !strings.Contains(err.Error(), "fetch memcached for ppc64el: this needs the program apt-get, on Debian") {
		t.Errorf("error: %v", err)
	}
}
