package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

var update = flag.Bool("update", false, "write the golden files")

// run runs a command, and returns its standard output.
func run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand("1.2.3")
	command.SetArgs(arguments)
	command.SetOut(&out)
	command.SetErr(t.Output())
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAnInvalidFlagIsNamedWithWhatToWrite(t *testing.T) {
	dir := t.TempDir()
	const server = "--server=shop-0=10.0.0.1:11211"
	for name, tc := range map[string]struct {
		arguments []string
		want      string
	}{
		"no bucket":            {[]string{"save", "--cache=shop", server}, "--to is missing: write s3://BUCKET?"},
		"no bucket to restore": {[]string{"restore", "--name=a", server}, "--from is missing: write s3://BUCKET?"},
		"a bucket of no cloud": {[]string{"verify", "--from=ftp://a", "--name=a"}, "--from: it is not the URL of a bucket: write s3://"},
		"no name":              {[]string{"save", "--to=" + dir, server}, `--name "": write letters`},
		"a name with a slash":  {[]string{"verify", "--from=" + dir, "--name=a/b"}, `--name "a/b": write letters`},
		"no server":            {[]string{"save", "--to=" + dir, "--cache=shop"}, "--server is missing: write it for each server"},
		"a server without a name": {
			[]string{"save", "--to=" + dir, "--cache=shop", "--server=10.0.0.1:11211"},
			`--server "10.0.0.1:11211": write NAME=HOST:PORT`,
		},
		"a server without a port": {
			[]string{"save", "--to=" + dir, "--cache=shop", "--server=shop-0=10.0.0.1"},
			`--server "shop-0=10.0.0.1": write NAME=HOST:PORT`,
		},
		"a server with a bad name": {
			[]string{"save", "--to=" + dir, "--cache=shop", "--server=a/b=10.0.0.1:11211"}, `--server "a/b": write letters`,
		},
		"a server twice": {
			[]string{"save", "--to=" + dir, "--cache=shop", server, server}, `--server "shop-0=10.0.0.1:11211": its name`,
		},
		"an unknown hash": {
			[]string{"restore", "--from=" + dir, "--name=a", server, "--client-hash=Random"},
			`--client-hash "Random": write one of Ketama, CRC32Modulo`,
		},
		"a negative rate": {
			[]string{"save", "--to=" + dir, "--cache=shop", server, "--bytes-per-second=-1"}, "--bytes-per-second -1: write 0",
		},
		"an unknown output": {[]string{"verify", "--from=" + dir, "--name=a", "-o=yaml"}, `--output "yaml": write text or json`},
		"no such snapshot":  {[]string{"verify", "--from=" + dir, "--name=a"}, `there is no snapshot "a". There are no whole snapshots`},
		"a word":            {[]string{"verify", "a"}, `unknown command "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, tc.arguments...)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || out != "" {
				t.Errorf("%q, error %v, want %s", out, err, tc.want)
			}
		})
	}
}

func TestWhoStopsACommandReadsWhatToDo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	command := newCommand("1.2.3")
	command.SetArgs([]string{"save", "--to=" + t.TempDir(), "--cache=shop", "--server=shop-0=127.0.0.1:1"})
	time.AfterFunc(10*time.Millisecond, stop)
	if err := command.ExecuteContext(ctx); err == nil || err.Error() != errStopped.Error() {
		t.Error(err)
	}
}

func TestTheVersionIsPrinted(t *testing.T) {
	if out, err := run(t, "--version"); err != nil || out != "1.2.3\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestTheResultIsATerminationMessage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "termination-log")
	if err := (result{Name: "daily", Servers: 2, Items: 30, Bytes: 2000, Stored: 500}).writeTo(file); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"servers":2`, `"items":30`, `"bytes":2000`, `"stored":500`} { // The operator reads these.
		if !strings.Contains(string(content), field) || strings.Count(string(content), "\n") != 1 {
			t.Errorf("%s is not in one line: %s", field, content)
		}
	}
	if err := (result{}).writeTo(filepath.Join(file, "a")); err == nil || !strings.HasPrefix(err.Error(), "--result-file: ") {
		t.Error(err)
	}
}

func TestWhatIsPrintedInTheEnd(t *testing.T) {
	m := format.Manifest{
		Cache: "shop", Time: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC),
		Slots: []format.Slot{
			{
				Name: "shop-0", Size: 500, End: format.End{Counts: format.Counts{Items: 10, Bytes: 2000}},
				LeftOut: format.LeftOut{Numbers: 1, Stale: 2, Expiring: 3, Unnamed: 4, Failed: 5},
			},
			{
				Name: "shop-1", Size: 3 << 20, End: format.End{Counts: format.Counts{Items: 20, Bytes: 5 << 20}},
				LeftOut: format.LeftOut{Numbers: 1},
			},
		},
	}
	o := &options{name: "shop-20261127T120000Z"}
	var out bytes.Buffer
	for _, r := range []result{
		o.result(m).of("saved").leftOut(m),
		o.result(m).of("restored").added(handoff.Added{Items: 28, Kept: 3, Refused: 4, Expired: 2}),
		o.result(m).of("whole").leftOut(m),
	} {
		r.Seconds = 1.5
		for _, json := range []bool{false, true} {
			if err := (&printer{out: &out, json: json}).print(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	page.Golden(t, "testdata/printed.txt", out.String(), *update)
}
