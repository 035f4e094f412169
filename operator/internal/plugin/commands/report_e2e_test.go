//go:build e2e

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAReportHasFiguresAndNoSecrets: the cache has TLS and users, and the keys and values of clients.
func TestAReportHasFiguresAndNoSecrets(t *testing.T) {
	c := secured(t, 2)
	c.send(0, "set user:4711 0 0 11\r\nsecretvalue\r\nget user:4711\r\nget other\r\n", 5)
	c.servers[1].Signal(t, 9)
	<-c.servers[1].Ended()
	file := filepath.Join(t.TempDir(), "report.html")
	c.prints([]string{file + " written"}, "report", "shop", "-o", file)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, want := range []string{
		"team/shop: <span class=\"Ready\">Ready", "<svg", "Memory used, of the limit", "Items, by their size", "no answer",
		"You have no right to read: Events", "connection refused", "secretName: server", c.pods[0].Name, "50.0%",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %q:\n%s", want, text)
		}
	}
	hidden := []string{"user:4711", "secretvalue", "app:secret"}
	for _, secret := range c.secrets {
		for _, value := range secret.StringData {
			hidden = append(hidden, strings.Split(strings.TrimSpace(value), "\n")...)
		}
	}
	for _, secret := range hidden {
		if strings.Contains(text, secret) {
			t.Errorf("the page has %q", secret)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the page: %v, %v", info, err)
	}
	out := c.prints([]string{"<!doctype html>"}, "report", "shop", "-o", "-")
	if strings.Contains(out, "written") {
		t.Errorf("the page has another line")
	}
	delete(c.secrets, "server")
	c.prints([]string{"<li>The memcached servers: you have no right to get Secret team/server"}, "report", "shop", "-o", "-")
	for arguments, want := range map[string]string{
		"": "--output is missing", "-o=/does/not/exist": "--output: open /does/not/exist", "-o=- --interval=1ms": "--interval 1ms is too short",
	} {
		if _, err := c.run("", append([]string{"report", "shop"}, strings.Fields(arguments)...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", arguments, err, want)
		}
	}
}
