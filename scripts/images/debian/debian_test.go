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

func TestArchitecturesHaveDebiansNames(t *testing.T) {
	for goarch, want := range map[string]string{"amd64": "amd64", "arm64": "arm64", "ppc64le": "ppc64el", "s390x": "s390x"} {
		if got := Architecture(goarch); got != want {
			t.Errorf("Architecture(%q) = %q, want %q", goarch, got, want)
		}
	}
}

func TestTheErrorWithoutAptNamesIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Unpack(t.Context(), t.TempDir(), Request{Package: "memcached", Architecture: "s390x"})
	if err == nil || !strings.Contains(err.Error(), "fetch memcached for s390x: this needs apt-get, on Debian") {
		t.Errorf("error: %v", err)
	}
}
