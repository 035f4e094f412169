package handoff

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
)

// removals removes items of one memcached. It never waits for an answer, and reports an error only by calling failed.
type removals struct {
	failed func(error) // called once

	mutex  sync.Mutex
	writer *bufio.Writer
	reader *bufio.Reader
}

func newRemovals(connection net.Conn, failed func(error)) *removals {
	var once sync.Once
	return &removals{
		failed: func(err error) { once.Do(func() { failed(err) }) },
		writer: bufio.NewWriterSize(connection, 16<<10),
		reader: bufio.NewReader(connection),
	}
}

// remove removes the item of a key. The command is sent with the next flush at the latest.
func (r *removals) remove(k key) { r.write(k.removal()) }

func (r *removals) write(command string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, err := r.writer.WriteString(command); err != nil {
		r.failed(err)
	}
}

func (r *removals) flush() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.writer.Flush(); err != nil {
		r.failed(err)
	}
}

// run reads the answers until the connection ends.
func (r *removals) run() error {
	for {
		answer, err := readLine(r.reader)
		if err != nil {
			return err
		}
		if _, err := stored(answer); err != nil {
			return err
		}
	}
}

// stored reads an answer to ms. It returns false if memcached has no memory for an item: memcached then has no item of
// that key.
func stored(answer string) (bool, error) {
	switch {
	case answer == "HD", answer == "NS", answer == markerAnswer:
		return true, nil
	case strings.HasPrefix(answer, "SERVER_ERROR "):
		return false, nil
	}
	return false, &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %.200q", answer)}
}
