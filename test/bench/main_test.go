package main

import (
	"strings"
	"testing"
)

func TestTheCommandThatRepeatsARun(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"by default":         {nil, "make bench"},
		"without the output": {[]string{"--page=x.md", "--profiles=x"}, "make bench"},
		"with what was chosen": {
			[]string{"--only", "create,drift", "--runs=1", "--sizes", "5,10"},
			"make bench ARGS='--only create,drift --runs 1 --sizes 5,10'",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := command()
			if err := cmd.ParseFlags(tc.args); err != nil {
				t.Fatal(err)
			}
			if got := repeat(cmd.Flags()); got != tc.want {
				t.Errorf("repeat() = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestWrongFlagsAreRefusedBeforeAnythingIsMeasured(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"an unknown scenario": {"--only speed", "--only speed: unknown scenario; use create, drift, growth, large, autoscale, pure, images, handoff, copy, resize, scale, movein, snapshot"},
		"no run":              {"--runs 0", "--runs 0: use at least 1"},
		"no Memcached":        {"--count 0", "--count 0: use at least 1"},
		"sizes that shrink":   {"--sizes 100,10", "--sizes [100 10]: use numbers from 1 on, each larger than the one before"},
		"sizes that repeat":   {"--sizes 10,10", "--sizes [10 10]: use numbers from 1 on, each larger than the one before"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := command()
			cmd.SetArgs(strings.Fields(tc.args))
			if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
