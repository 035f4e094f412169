package handoff

import (
	"bufio"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	tests := map[string]bool{
		"0": true, "12": true, "007": true, "9 ": true, " 5": true, "+5": true, "18446744073709551615": true,
		"5 apples": true, "7\tx": true, "7\nx": true, "7\x00abc": true, "200 OK\nContent-Type: text/plain": true,
		strings.Repeat(" ", 9000) + "5": true, strings.Repeat("0", 9000) + "5": true, "5" + strings.Repeat(" ", 9000): true,
		"": false, "5apples": false, "5.5": false, "2026-11-28 10:00": false, "apples 5": false, "- 5": false, "{}": false,
		strings.Repeat("7", 30): false, "five": false, strings.Repeat(" ", 3000) + "x": false, "\x005": false,
	}
	for value, want := range tests {
		for _, behind := range []string{"", "\r\nVA 1 t-1 f0 O7\r\n"} {
			got, err := number(bufio.NewReaderSize(strings.NewReader(value+behind), 4<<10), len(value))
			if err != nil || got != want {
				t.Errorf("%.40q: %t, %v, want %t", value, got, err, want)
			}
		}
	}
	if got, err := number(bufio.NewReader(strings.NewReader("5 ")), 3); err == nil {
		t.Errorf("half of a value is %t", got)
	}
}
