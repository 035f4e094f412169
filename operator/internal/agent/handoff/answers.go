package handoff

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxNumber is the size of the longest value that memcached's incr takes for a number, with a margin.
const maxNumber = 24

// item is the answer to mg with the flags v, t, f, O and maybe l, without the value.
type item struct {
	index int // in the batch
	size  int // of the value
	ttl   int // seconds; -1: it never expires
	idle  int // seconds since a client used it, if that was requested
	flags string
	stale bool // or another client is instructed to refresh it
}

// parseItem reads the line before a value, such as "VA 5 t-1 f0 O7".
func parseItem(text string) (item, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 || fields[0] != "VA" {
		return item{}, fmt.Errorf("memcached answers %.200q", text)
	}
	i := item{index: -1}
	var size, ttl, idle, index error
	i.size, size = strconv.Atoi(fields[1])
	for _, field := range fields[2:] {
		switch field[0] {
		case 't':
			i.ttl, ttl = strconv.Atoi(field[1:])
		case 'l':
			i.idle, idle = strconv.Atoi(field[1:])
		case 'f':
			i.flags = field[1:]
		case 'O':
			i.index, index = strconv.Atoi(field[1:])
		case 'W', 'X', 'Z':
			i.stale = true
		}
	}
	if err := errors.Join(size, ttl, idle, index); err != nil || i.size < 0 || i.index < 0 {
		return item{}, fmt.Errorf("memcached answers %.200q", text)
	}
	return i, nil
}

// number reports whether the value that comes next is one that incr and decr can change. They are not in memcached's
// log, so a copy of it could become outdated without notice.
func number(reader *bufio.Reader, size int) (bool, error) {
	if size == 0 || size > maxNumber {
		return false, nil
	}
	value, err := reader.Peek(size)
	if err != nil {
		return false, err
	}
	return !strings.ContainsFunc(string(value), func(r rune) bool {
		return (r < '0' || r > '9') && !strings.ContainsRune(" \t\r\n\v\f+-", r)
	}), nil
}

// readLine returns a line without its end. It is valid until the next read.
func readLine(reader *bufio.Reader) (string, error) {
	text, err := reader.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, io.EOF) && len(text) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return "", err
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
