package handoff

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// item is the answer to mg with the flags v, t, f, O and maybe l, without the value.
type item struct {
	index int // in the batch
	size  int // of the value
	ttl   int // seconds; -1: it never expires
	idle  int // seconds since a client used it, if that was requested
	flags string
	stale bool // the item is stale, or memcached instructed a client to refresh it
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

// numeric matches the beginning of a value that incr and decr accept as a number, as strtoull does: with blanks and a
// sign before the digits, and any text after a blank or a zero byte. It also matches the first part of a longer value
// if that part ends before the first digit.
var numeric = regexp.MustCompile(`^[ \t\n\v\f\r]*[+-]?0*([0-9]{1,20}[ \t\n\v\f\r\x00]|[0-9]{0,20}$)`)

// number reports whether the next value is one that incr and decr can change. Memcached does not log these commands, so
// a copy of the value could become outdated unnoticed.
func number(reader *bufio.Reader, size int) (bool, error) {
	const enough = 4 << 10 // the size of the smallest buffer
	value, err := reader.Peek(min(enough, size))
	return err == nil && size > 0 && numeric.Match(value), err
}

// readLine returns a line without its line end. The line is valid until the next read.
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
