package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheCommandLine(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		starts    bool
		want      string // error
	}{
		"the agent":                {nil, true, "<nil>"},
		"with a flag":              {[]string{"--interval=3s"}, true, "<nil>"},
		"the hook":                 {[]string{"end", "--health-probe-bind-address=:1"}, true, "<nil>"},
		"the hook behind its flag": {[]string{"--health-probe-bind-address=:1", "end"}, true, "<nil>"},
		"the bootstrap":            {[]string{"bootstrap", "--from=a:1"}, true, "<nil>"},
		"help":                     {[]string{"--help"}, false, "<nil>"},
		"help of the bootstrap":    {[]string{"bootstrap", "--help"}, false, "<nil>"},
		"the version":              {[]string{"--version"}, false, "<nil>"},
		"an unknown command":       {[]string{"begin"}, false, `unknown command "begin": write end or bootstrap as the first argument, or no command`},
		"more than flags":          {[]string{"bootstrap", "--from=a:1", "b:1"}, false, `unknown arguments "b:1" of bootstrap: it has only flags`},
		"a flag of the other":      {[]string{"--from=a:1"}, false, "unknown flag: --from"},
		"a flag of the agent":      {[]string{"bootstrap", "--interval=3s"}, false, "unknown flag: --interval"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			command, err := parse(tc.arguments)
			if diff := cmp.Diff(tc.want, fmt.Sprint(err)); diff != "" || (command != nil) != tc.starts {
				t.Errorf("a command %v (-want +got):\n%s", command != nil, diff)
			}
		})
	}
}
