package handoff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// streamBuffer is the size of the buffer for the log of a memcached. It holds many lines, so that the removals that
// these lines cause are sent in one write. streamBuffers limits the buffers of all memcacheds together.
const (
	streamBuffer  = 64 << 10
	streamBuffers = 8 << 20
)

// stream reads the log of one memcached, which has lines about changes and missing items.
type stream struct {
	reader  *bufio.Reader
	markers *markers

	changed func(key []byte) error // called when the item of a key may have changed
	removed func(key []byte) error // called when the agent has removed a key; may be nil
	gap     func(error) error      // called when lines are lost
	idle    func()                 // called when all lines that have arrived are read
	others  func() error           // called when another agent uses this memcached
	unused  func() bool            // whether no client uses this memcached yet: a missing key then has no meaning

	own       map[int]bool // memcached's descriptors of the agent's connections
	announced bool         // the end of memcached was announced
}

func newStream(connection net.Conn, markers *markers, size int) *stream {
	return &stream{reader: bufio.NewReaderSize(connection, size), markers: markers, own: map[int]bool{}}
}

// watch makes memcached write its log to the connection.
func (s *stream) watch(connection net.Conn) error {
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := connection.Write([]byte("watch mutations deletions fetchers\r\n")); err != nil {
		return err
	}
	answer, err := readLine(s.reader)
	switch {
	case err != nil:
		return err
	case answer == "OK":
		return connection.SetDeadline(time.Time{})
	case answer == "ERROR":
		return &Failure{Reason: tooOld, Err: errors.New("memcached cannot report deletions: use memcached 1.6.20 or later")}
	case strings.Contains(answer, "not allowed"):
		return &Failure{Reason: DumpForbidden, Err: fmt.Errorf("memcached answers to watch: %s", answer)}
	}
	return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers to watch: %.200q", answer)}
}

// run reads the log until it ends.
func (s *stream) run() error {
	for {
		text, err := s.reader.ReadSlice('\n')
		if err != nil {
			s.idle()
			return err
		}
		if err := s.read(bytes.TrimRight(text, "\r\n")); err != nil {
			return err
		}
		if s.reader.Buffered() == 0 {
			s.idle()
		}
	}
}

func (s *stream) read(text []byte) error {
	if bytes.HasPrefix(text, []byte("skipped=")) {
		return s.gap(&Failure{Reason: LogLinesLost, Err: fmt.Errorf("memcached's log says %q", text)})
	}
	l, err := parseLine(text)
	if err != nil {
		return &Failure{Reason: Internal, Err: err}
	}
	if bytes.HasPrefix(l.key, []byte(markerPrefix)) {
		return s.marker(l)
	}
	switch {
	case l.kind == typeGet && s.unused(), isUnnamed(l.key):
	case l.changed(s.own):
		return s.changed(l.key)
	case s.removed != nil && l.kind == typeStore && s.own[l.cfd]:
		return s.removed(l.key)
	}
	return nil
}

// marker reads a line about a marker, of this agent or another. Only the line of a store counts: it comes after the
// line of the fetch by the same command.
func (s *stream) marker(l line) error {
	switch {
	case l.kind != typeStore:
	case string(l.key) == endKey:
		s.announced = true
	case strings.HasPrefix(string(l.key), s.markers.prefix):
		s.own[l.cfd] = true // before see reports the marker
		s.markers.see(l.key)
	default:
		return s.others()
	}
	return nil
}
