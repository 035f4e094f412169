package item

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func seconds(n int) Duration { return Duration{time.Duration(n) * time.Second} }

func TestAnAnswerIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   Item
		err    string
	}{
		"no item":             {"EN\r\n", Item{}, ""},
		"one without a TTL":   {"HD s5 t-1 f7 h0 l2\r\n", Item{Found: true, Size: 5, Flags: 7, LastAccess: seconds(2)}, ""},
		"one with a TTL":      {"HD s5 t60 f0 h1 l0\r\n", Item{Found: true, Size: 5, Read: true, TTL: new(seconds(60))}, ""},
		"one with a value":    {"VA 5 s5 t-1 f0 h0 l0\r\na\r\nbc\r\n", Item{Found: true, Size: 5, Value: []byte("a\r\nbc")}, ""},
		"one that is stale":   {"HD s1 t-1 f0 h0 l0 W X\r\n", Item{Found: true, Size: 1}, ""},
		"an error":            {"ERROR\r\n", Item{}, "needs memcached 1.6"},
		"an empty line":       {"\r\n", Item{}, "needs memcached 1.6"},
		"a wrong flag":        {"HD sx\r\n", Item{}, `the flag "sx"`},
		"a size of no number": {"VA x s1\r\n", Item{}, `a value of "x" bytes`},
		"a huge value":        {"VA 99999999999 s1\r\n", Item{}, "announces"},
		"a half value":        {"VA 5 s5\r\nab", Item{}, "in the middle"},
		"too long a value":    {"VA 1 s1\r\nabcd\r\n", Item{}, "more than it announced"},
		"no answer":           {"", Item{}, "stopped answering"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(bufio.NewReader(strings.NewReader(tc.answer)))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want %q", err, tc.err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}
