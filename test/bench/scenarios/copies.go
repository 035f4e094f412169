package scenarios

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/example-inc/memcached-operator/test/bench/report"
)

// movein fills three memcached servers of 1 GiB from three others, while clients write 2,000 times a second. All are
// processes of this machine, without Pods.
func (b *Bench) movein(ctx context.Context) ([]report.Figure, error) {
	b.updatef("%d keys", b.MovedKeys)
	found, err := b.attributes(ctx, "operator/internal/agent/bootstrap", "TestACacheIsFilledUnderLoad",
		"-keys="+strconv.Itoa(b.MovedKeys), "-rate=16777216")
	if err != nil {
		return nil, err
	}
	copied := found["copy-seconds"]
	return []report.Figure{
		report.AtMost(1, "%", "keys lost", 100-found["kept-percent"], fmt.Sprintf("of %d", b.MovedKeys)),
		report.Unjudged("copy, until all changes follow", copied, "s",
			fmt.Sprintf("%s keys/s of 1,000 bytes, limited to 16 MiB/s", report.Number(float64(b.MovedKeys)/copied))),
		report.Unjudged("cutover, until clients may move", found["cutover-seconds"], "s"),
	}, nil
}

// copyRate is the rate at which a Pod of 16 GiB hands its keys over in about five minutes, in bytes per second.
const copyRate = 64 << 20

// copied copies the keys of large memcacheds into other memcacheds, without Pods. During each copy, clients read from
// the old memcached 2,000 times a second.
func (b *Bench) copied(ctx context.Context) (figures []report.Figure, err error) {
	for _, mebibytes := range b.Copied {
		b.updatef("%d MiB", mebibytes)
		found, err := b.attributes(ctx, "operator/internal/agent/handoff", "TestALargeMemcachedIsCopiedWhole",
			"-mebibytes="+strconv.Itoa(mebibytes), "-rate="+strconv.Itoa(copyRate))
		if err != nil {
			return figures, err
		}
		name, most := fmt.Sprintf("%d MiB", mebibytes), float64(mebibytes)*300/(16<<10) // 16 GiB in five minutes
		reads, before := found["during-milliseconds"], found["before-milliseconds"]
		figures = append(figures,
			report.AtMost(most, "s", name+", limited to 64 MiB/s", found["copy-seconds"]),
			report.AtMost(0, "%", name+", keys lost", 100-found["kept-percent"]),
			report.AtMost(1.2, "times", name+", p99 of clients during the copy, against before", reads/before,
				fmt.Sprintf("%s ms against %s ms", report.Number(reads), report.Number(before))))
	}
	return figures, nil
}

// snapshot saves the keys of a cache of two servers in a folder, verifies this snapshot and restores it.
func (b *Bench) snapshot(ctx context.Context) (figures []report.Figure, err error) {
	b.updatef("%d keys", b.SavedKeys)
	found, err := b.attributes(ctx, "operator/cmd/snapshot", "TestManyKeysTakeLittleTimeAndMemory",
		"-keys="+strconv.Itoa(b.SavedKeys))
	if err != nil {
		return nil, err
	}
	for _, what := range []string{"save", "restore", "verify"} {
		figures = append(figures,
			report.AtMost(180, "s", what+" "+strconv.Itoa(b.SavedKeys)+" keys", found[what+"-seconds"]),
			report.AtMost(32, "MiB", what+", heap", found[what+"-heap-mebibytes"]))
	}
	return figures, nil
}

// attribute is a line of go test -v that a test wrote by T.Attr.
var attribute = regexp.MustCompile(`(?m)^=== ATTR  \S+ (\S+) (\S+)$`)

// attributes runs one test of a package, which starts memcacheds on this machine, and returns the figures that the test
// reports.
func (b *Bench) attributes(
	ctx context.Context, folder, test string, arguments ...string,
) (found map[string]float64, err error) {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{
		"test", "-tags=e2e", "-vet=off", "-count=1", "-timeout=1h", "-v", "-run=^" + test + "$", ".", "-args",
	}, arguments)...)
	command.Dir = filepath.Join(b.Tree, folder)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, out)
	}
	found = map[string]float64{}
	for _, line := range attribute.FindAllStringSubmatch(string(out), -1) {
		if found[line[1]], err = strconv.ParseFloat(line[2], 64); err != nil {
			return nil, fmt.Errorf("%s: %w", line[0], err)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s reports no figures:\n%s", test, out)
	}
	return found, nil
}
