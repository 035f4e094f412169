package commands

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

func TestOnlyAYesChangesSomething(t *testing.T) {
	silent, _ := io.Pipe()
	tests := map[string]struct {
		in          io.Reader
		interrupted bool
		agrees      bool
		advice      bool // the message names --yes
	}{
		"y":                                     {in: strings.NewReader("y\n"), agrees: true},
		"Yes":                                   {in: strings.NewReader(" Yes \n"), agrees: true},
		"no":                                    {in: strings.NewReader("n\n")},
		"nothing":                               {in: strings.NewReader(""), advice: true},
		"an interrupt while nothing is entered": {in: silent, interrupted: true, advice: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			if tc.interrupted {
				cancel()
			}
			defer cancel()
			p := &plugin{IOStreams: genericiooptions.IOStreams{In: tc.in, ErrOut: io.Discard}}
			err := p.confirm(ctx, changeOptions{}, "All keys are lost.")
			if advice := err != nil && strings.Contains(err.Error(), "--yes"); (err == nil) != tc.agrees || advice != tc.advice {
				t.Errorf("confirm: %v", err)
			}
		})
	}
}

func TestAQuestionFitsTheTerminal(t *testing.T) {
	for columns, want := range map[int]string{
		0:  "All keys of shop are lost. Continue? [y/N] ",
		36: "All keys of shop are lost.\nContinue? [y/N] ", // The user enters the answer on the line of the question.
		20: "All keys of shop are\nlost.\nContinue? [y/N] ",
	} {
		var asked bytes.Buffer
		p := &plugin{screen: screen.Screen{Columns: columns}}
		p.IOStreams = genericiooptions.IOStreams{In: strings.NewReader("y\n"), ErrOut: &asked}
		if err := p.confirm(t.Context(), changeOptions{}, "All keys of shop are lost."); err != nil || asked.String() != want {
			t.Errorf("at %d columns: %q, %v, want %q", columns, &asked, err, want)
		}
	}
}
