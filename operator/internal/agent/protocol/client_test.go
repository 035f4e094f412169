package protocol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answering returns a client of a simulated memcached, which reads this number of lines and then sends an answer.
func answering(t *testing.T, lines int, answer string) (client *Client, request <-chan string) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	requests := make(chan string, 1)
	go func() {
		reader := bufio.NewReader(far)
		var request strings.Builder
		for range lines {
			line, _ := reader.ReadString('\n')
			request.WriteString(line)
		}
		requests <- request.String()
		_, _ = io.WriteString(far, answer)
		_ = far.Close()
	}()
	return &Client{connection: near, reader: newReader(near)}, requests
}

func TestAuthenticate(t *testing.T) {
	tests := map[string]struct{ answer, want string }{
		"accepted":                {"STORED\r\n", "<nil>"},
		"refused":                 {"CLIENT_ERROR authentication failure\r\n", ErrRefused.Error()},
		"no connection is left":   {"ERROR Too many open connections\r\n", `memcached answers "ERROR Too many open connections"`},
		"the connection ends":     {"STO", "memcached stopped answering: EOF"},
		"the connection is silly": {strings.Repeat("x", maxLine+1), "line of more than 8192 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, request := answering(t, 2, tc.answer)
			err := client.Authenticate(t.Context(), "ann", "secret")
			if !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if diff := cmp.Diff("set memcached-agent 0 -1 10\r\nann secret\r\n", <-request); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPasswordCanNotBeACommand(t *testing.T) {
	client, _ := answering(t, 0, "")
	for _, password := range []string{"a b", "a\r\nflush_all", "a\nb", "a\x00b"} {
		err := client.Authenticate(t.Context(), "ann", password)
		if err == nil || !strings.Contains(err.Error(), "no blanks and no line ends") || strings.Contains(err.Error(), password) {
			t.Errorf("%q: error %v", password, err)
		}
	}
}

func TestStats(t *testing.T) {
	tests := map[string]struct {
		answer    string
		want      map[string]string
		wantError string
	}{
		"some":                    {"STAT pid 1\r\nSTAT version 1.6.45\r\nEND\r\n", map[string]string{"pid": "1", "version": "1.6.45"}, ""},
		"none":                    {"END\r\n", map[string]string{}, ""},
		"a value with blanks":     {"STAT inter notls:127.0.0.1 x\r\nEND\r\n", map[string]string{"inter": "notls:127.0.0.1 x"}, ""},
		"no value":                {"STAT inter \r\nSTAT key\r\nEND\r\n", map[string]string{"inter": "", "key": ""}, ""},
		"an error":                {"CLIENT_ERROR unauthenticated\r\n", nil, `memcached answers "CLIENT_ERROR unauthenticated"`},
		"an error that is long":   {"ERROR " + strings.Repeat("x", 1000) + "\r\n", nil, `"ERROR ` + strings.Repeat("x", 194) + `"`},
		"no name":                 {"STAT  5\r\n", nil, `memcached answers "STAT  5"`},
		"half of the answer":      {"STAT pid 1\r\n", nil, "stopped answering"},
		"more than there can be":  {strings.Repeat("STAT a b\r\n", maxStats+1), nil, "more than 10000 statistics"},
		"more than fits":          {strings.Repeat("STAT a "+strings.Repeat("x", 8000)+"\r\n", 132), nil, "more than 1048576 bytes"},
		"a line that is too long": {"STAT a " + strings.Repeat("x", maxLine) + "\r\n", nil, "more than 8192 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, request := answering(t, 1, tc.answer)
			got, err := client.Stats(t.Context(), "items")
			if tc.wantError != "" {
				if !strings.Contains(fmt.Sprint(err), tc.wantError) {
					t.Errorf("error %v, want %q", err, tc.wantError)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if got := <-request; got != "stats items\r\n" {
				t.Errorf("request %q", got)
			}
		})
	}
}

func TestTheGeneralStatsHaveNoKind(t *testing.T) {
	client, request := answering(t, 1, "END\r\n")
	if _, err := client.Stats(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if got := <-request; got != "stats\r\n" {
		t.Errorf("request %q", got)
	}
}

func TestRefreshCertificates(t *testing.T) {
	tests := map[string]struct{ answer, want string }{
		"loaded":     {"OK\r\n", "<nil>"},
		"not loaded": {"Error loading the key: /tls/tls.key : error:05800074\r\n", `memcached answers "Error loading the key: /tls/tls.key : error:05800074"`},
		"no TLS":     {"ERROR\r\n", `memcached answers "ERROR"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, request := answering(t, 1, tc.answer)
			if got := fmt.Sprint(client.RefreshCertificates(t.Context())); got != tc.want {
				t.Errorf("error %s, want %s", got, tc.want)
			}
			if got := <-request; got != "refresh_certs\r\n" {
				t.Errorf("request %q", got)
			}
		})
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	client, _ := answering(t, 5, "") // This memcached waits for more lines than the client sends.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	_, err := client.Stats(ctx, "")
	if err == nil || time.Since(start) >= Timeout {
		t.Errorf("error %v after %s", err, time.Since(start))
	}
}

func TestDialFailsIfNothingListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	var failure *net.OpError
	if _, err := Dial(t.Context(), listener.Addr().String(), nil); !errors.As(err, &failure) {
		t.Errorf("error %v", err)
	}
}
