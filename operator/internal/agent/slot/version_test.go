package slot

import "testing"

func TestCheckVersion(t *testing.T) {
	tests := map[string]struct {
		version string
		fails   bool
	}{
		"the last one that spoils its slabs":     {"1.6.39", true},
		"the first one that does not":            {"1.6.40", false},
		"a build of a distribution":              {"1.6.38-1", true},
		"a newer build of a distribution":        {"1.6.45_beta1", false},
		"a memcached of ten years ago":           {"1.4.39", true},
		"a memcached of the future":              {"1.7.0", false},
		"something that is no version of 1.6":    {"1.6.x", false},
		"a server that says something different": {"unknown", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := checkVersion(tc.version); (err != nil) != tc.fails {
				t.Errorf("checkVersion(%q) = %v", tc.version, err)
			}
		})
	}
}
