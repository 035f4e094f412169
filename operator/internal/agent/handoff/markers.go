package handoff

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
)

// Keys of the agents' own commands begin with markerPrefix. These commands store nothing.
const (
	markerPrefix = "memcached-agent-handoff-"
	endKey       = markerPrefix + "end"
)

// markers are commands that store nothing, and that memcached logs: they show how much of the log has arrived, and
// which connections are the agent's own.
type markers struct {
	prefix string

	mutex   sync.Mutex
	last    uint64
	waiting map[uint64]func()
}

func newMarkers() *markers {
	return &markers{prefix: markerPrefix + rand.Text()[:10] + "-", waiting: map[uint64]func(){}}
}

// command returns a command that memcached answers with markerAnswer. It calls seen once the line of the command is in
// the log.
func (m *markers) command(seen func()) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.last++
	m.waiting[m.last] = seen
	return markerCommand(m.prefix + strconv.FormatUint(m.last, 10))
}

// markerAnswer is memcached's answer to a markerCommand: not stored, with the opaque token.
const markerAnswer = "NS Om"

func markerCommand(key string) string { return "ms " + key + " 0 T-1 MR Om\r\n\r\n" }

// see reports whether a key of the log is one of these markers. If it is, see calls the function that is waiting for
// it.
func (m *markers) see(key []byte) bool {
	number, ok := strings.CutPrefix(string(key), m.prefix)
	if !ok {
		return false
	}
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return false
	}
	m.mutex.Lock()
	seen := m.waiting[id]
	delete(m.waiting, id)
	m.mutex.Unlock()
	if seen != nil {
		seen()
	}
	return true
}
