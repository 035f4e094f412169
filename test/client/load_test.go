package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestALoadingClientReportsHowFastItWasAnswered(t *testing.T) {
	var scrapes atomic.Int32
	metrics := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { scrapes.Add(1) }))
	defer metrics.Close()
	endpoint := "localhost:" + port(t, stores)
	out, err := execute(t, "load --keys=5 --connections=3 --for=2500ms --scrape="+metrics.URL+" --endpoint="+endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Requests < 10 || got.PerSecond <= 0 || got.P50 <= 0 || got.P99 < got.P50 || scrapes.Load() < 1 {
		t.Errorf("%d scrapes, %s", scrapes.Load(), out)
	}
}

func TestALoadingClientFailsWithItsFirstError(t *testing.T) {
	endpoint := "localhost:" + port(t, func(connection net.Conn) { fmt.Fprint(connection, "SERVER_ERROR out of memory\r\n") })
	if _, err := execute(t, "load --for=100ms --endpoint="+endpoint); err == nil || !strings.Contains(err.Error(), "set key-0") {
		t.Errorf("error %v, want one that names the first key", err)
	}
}

// stores answers the requests of a loading client, in memcached's protocol. It accepts every set, and finds every key.
func stores(connection net.Conn) {
	for lines := bufio.NewReader(connection); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		if words[0] == "set" {
			_, _ = lines.ReadString('\n') // its value
			fmt.Fprint(connection, "STORED\r\n")
			continue
		}
		fmt.Fprintf(connection, "VALUE %s 0 1 1\r\nx\r\nEND\r\n", words[1])
	}
}
