package protocol

// Reads memcached's answers, up to limits.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of an answer. The longest lines are settings that contain a path. Each of the slab classes, of which there are
// at most 63, has fewer than 50 statistics. An answer up to these limits must fit into the agent's memory, even if
// memcached is compromised.
const (
	maxLine   = 8 << 10
	maxStats  = 10000
	maxAnswer = 1 << 20
)

func newReader(from io.Reader) *bufio.Reader { return bufio.NewReaderSize(from, maxLine) }

// readLine returns a line without its line end.
func readLine(reader *bufio.Reader) (string, error) {
	line, err := reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("memcached answers with a line of more than %d bytes", maxLine)
	}
	if err != nil {
		return "", fmt.Errorf("memcached stopped answering: %w", err)
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// readStats reads lines such as "STAT uptime 5" until END.
func readStats(reader *bufio.Reader) (map[string]string, error) {
	stats, size := map[string]string{}, 0
	for range maxStats {
		line, err := readLine(reader)
		if err != nil || line == "END" {
			return stats, err
		}
		if size += len(line); size > maxAnswer {
			return nil, fmt.Errorf("memcached answers with more than %d bytes", maxAnswer)
		}
		rest, ok := strings.CutPrefix(line, "STAT ")
		name, value, _ := strings.Cut(rest, " ")
		if !ok || name == "" {
			return nil, unexpected(line)
		}
		stats[name] = value
	}
	return nil, fmt.Errorf("memcached answers with more than %d statistics", maxStats)
}

// unexpected returns an error about an unknown answer, with the beginning of the answer.
func unexpected(answer string) error {
	const enough = 200
	if len(answer) > enough {
		answer = answer[:enough]
	}
	return fmt.Errorf("memcached answers %q", answer)
}
