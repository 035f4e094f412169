package progress

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestStageOnAPipe(t *testing.T) {
	failure := errors.New("it broke")
	tests := map[string]struct {
		err  error
		want string
	}{
		"a stage that succeeds leaves its title and time":  {nil, `^✓ build +0\.\ds\n$`},
		"a stage that fails leaves what it was at as well": {failure, `^✗ build +0\.\ds  linking\n$`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := Stage(WithOutput(t.Context(), &out), "build", func(update func(string)) error {
				update("linking")
				return tc.err
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("Stage() = %v, want %v", err, tc.err)
			}
			if !regexp.MustCompile(tc.want).MatchString(out.String()) {
				t.Errorf("wrote %q, want it to match %s", out.String(), tc.want)
			}
		})
	}
}

func TestElapsedIsShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		440 * time.Millisecond: "0.4s", 12400 * time.Millisecond: "12s", 192 * time.Second: "3m12s",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("Elapsed(%v) = %q, want %q", d, got, want)
		}
	}
}
