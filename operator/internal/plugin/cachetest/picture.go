package cachetest

import (
	"bytes"
	"io"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/terminal/picture"
)

// Picture compares the plain output of a command with a golden file, and compares the colored output with the picture
// of the command in docs/kubectl-memcached.md.
func Picture(
	t testing.TB, name, command, golden string, show func(out io.Writer, colors bool) error, update bool,
) {
	t.Helper()
	var plain, colored bytes.Buffer
	for out, colors := range map[*bytes.Buffer]bool{&plain: false, &colored: true} {
		if err := show(out, colors); err != nil {
			t.Fatal(err)
		}
	}
	page.Golden(t, golden, plain.String(), update)
	drawn := picture.Draw("Output of "+command, picture.Lines("$ "+command+"\n"+colored.String()))
	page.Golden(t, "../../../../docs/images/kubectl-"+name+".svg", drawn, update)
	if picture.Plain(colored.String()) != plain.String() {
		t.Errorf("a terminal with colors shows other texts:\n%s", &colored)
	}
}
