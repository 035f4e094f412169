package snapshot

// Reads the state of a server, before and after its keys are read.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// state is how many items a server has, and which process it is.
type state struct {
	items, bytes int64

	pid     string // in a container, a restarted memcached has the same one
	started int64  // in seconds since 1970
}

// stateOf returns the state of a server from its statistics.
func stateOf(stats map[string]string) state {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(stats[name], 10, 64)
		return n
	}
	return state{
		items: number("curr_items"), bytes: number("bytes"),
		pid: stats["pid"], started: number("time") - number("uptime"),
	}
}

// unchanged returns an error if a server has restarted since it had this state. An open connection would also show
// this, but memcached may close an idle connection.
func (s state) unchanged(ctx context.Context, server Server) error {
	stats, err := answer(ctx, server)
	if err != nil {
		return err
	}
	if !s.isSame(stateOf(stats)) {
		return fmt.Errorf("%s: it has restarted during the save, and lost its items: save again", server.Name)
	}
	return nil
}

// isSame reports whether both states are of the same process.
func (s state) isSame(other state) bool {
	const adjusted = 2 // seconds, by which the clock of a server may be set
	apart := other.started - s.started
	return other.pid == s.pid && -adjusted <= apart && apart <= adjusted
}

// answer waits until a server answers, for peer.Patience at most, and returns its statistics.
func answer(ctx context.Context, server Server) (map[string]string, error) {
	err := peer.Reach(ctx, handoff.Member{Side: handoff.Old, Name: server.Name, Dial: server.Dial}, peer.Patience)
	if err != nil {
		return nil, about(server, err)
	}
	connection, err := server.Dial(ctx)
	if err != nil {
		return nil, about(server, err)
	}
	defer connection.Close()
	stats, err := protocol.New(connection).Stats(ctx, "")
	if err != nil {
		return nil, about(server, err)
	}
	return stats, nil
}

// statistics returns the statistics of a server, and an error if an agent copies its keys. Memcached can stand still if
// two clients list its keys (see list in the package handoff). Besides, the agent's copy fails if memcached's log loses
// lines, and each item that a restore adds causes a line.
func statistics(ctx context.Context, server Server) (map[string]string, error) {
	stats, err := answer(ctx, server)
	if err != nil {
		return nil, err
	}
	if watchers := stats["log_watchers"]; watchers == "" || watchers == "0" {
		return stats, nil
	}
	switch isCopied, err := handoff.IsBusy(ctx, server.Dial); {
	case err != nil:
		return nil, about(server, err)
	case isCopied:
		return nil, fmt.Errorf("%s: an agent copies its keys: "+
			"wait until the rollout, the scaling or the bootstrap has ended", server.Name)
	}
	return stats, nil
}

// listPatience and listInterval are how long, and at which interval, to wait for the end of another client's list of
// keys.
const (
	listPatience = 2 * time.Minute
	listInterval = 200 * time.Millisecond
)

// untilListsEnd waits while memcached lists keys for another client, such as another save: a request for a second list
// blocks a thread of memcached, with all clients of that thread, until the first list ends.
func untilListsEnd(ctx context.Context, server Server) error {
	until := time.Now().Add(listPatience)
	for {
		stats, err := statistics(ctx, server)
		switch running := stats["lru_crawler_running"]; {
		case err != nil:
			return err
		case running == "" || running == "0":
			return nil
		case time.Now().After(until):
			return fmt.Errorf("%s: its LRU crawler has been busy for %s, for example because another save lists the keys: "+
				"save again once the other save has ended", server.Name, listPatience)
		}
		if err := handoff.Wait(ctx, listInterval); err != nil {
			return err
		}
	}
}

// hints has, for each reason of a failed copy, what to do about it. The reasons themselves are for programs.
var hints = map[string]string{
	handoff.OldUnreachable: "it does not answer: correct its address in --server, or wait until it runs, or allow " +
		"this program in its NetworkPolicy; if it uses TLS, set --tls-dir",
	handoff.DumpForbidden: "it lists no keys: start it without -X and -W, and with the LRU crawler",
	handoff.CrawlerBusy:   "it lists keys for another client all the time: try again once that client has ended",
	peer.LoginRefused:     "it refuses the user: set --auth-dir to the folder with the Secret of one of its users",
	peer.ServerCertificateUnknown: "its certificate cannot be verified: set --tls-dir to a folder with its ca.crt, " +
		"and if the certificate has another name than the host in --server, set --tls-server-name",
	peer.ClientCertificateRefused: "it requires a client certificate: add tls.crt and tls.key, signed by a CA that " +
		"it accepts, to the folder of --tls-dir",
}

// about returns an error of a server with its name, and with a hint instead of the reason, which is for programs.
func about(server Server, err error) error {
	failure, ok := errors.AsType[*handoff.Failure](err)
	if !ok {
		return fmt.Errorf("%s: %w", server.Name, err)
	}
	if hint := hints[failure.Reason]; hint != "" {
		return fmt.Errorf("%s: %s: %w", server.Name, hint, failure.Err)
	}
	return fmt.Errorf("%s: %w", server.Name, failure.Err)
}
