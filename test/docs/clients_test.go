package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/clients"
	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// resolves says when a client of each mode resolves the name of a server.
var resolves = map[clients.Mode]string{
	clients.DNS:       "for each connection",
	clients.ClusterIP: "once",
}

// resolvesOtherwise has the clients that resolve names at other times.
var resolvesOtherwise = map[string]string{
	"loki":              "every 10 s",
	"mimir":             "every 30 s",
	"thanos":            "every 10 s",
	"gomemcache-follow": "each second, by the program",
	"php-memcached":     "after a connection failed",
	"pylibmc":           "after a connection failed",
}

// TestTheDocsShowTheClients: the page shows the client programs that the end-to-end test runs, and a table of the
// properties of each client.
func TestTheDocsShowTheClients(t *testing.T) {
	matrix := "| language | client | protocol | chooses a server by | resolves names | `slots.mode` | TLS | login |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n"
	tables := map[string]string{}
	for _, client := range clients.All {
		if client.Recipe == "" {
			tables["client "+client.Name] = code(t, client)
		}
		if client.Secured != "" {
			continue
		}
		when := resolves[client.Mode]
		if special, ok := resolvesOtherwise[client.Name]; ok {
			when = special
		}
		matrix += fmt.Sprintf("| %s | [%s](%s) | %s | %s | %s | `%s` | %s | %s |\n", client.Language, client.Name, section(client),
			client.Protocol, client.Chooses, when, client.Mode, client.TLS, client.Login)
	}
	tables["clients"] = matrix
	page.Tables(t, "../../docs/clients.md", *update, tables)
}

// section returns the target of a link: the part of the page that shows how to use a client, or the client's recipe.
func section(client clients.Client) string {
	if client.Recipe == "" {
		return "#" + client.Name
	}
	return "recipes/" + strings.TrimSuffix(client.Recipe, filepath.Ext(client.Recipe)) + ".md"
}

// code returns the source file with which the client connects.
func code(t *testing.T, client clients.Client) string {
	t.Helper()
	file := filepath.Join("../../test", clients.Folder, client.Program, client.File)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("```%s\n%s```\n\nThis is [test/%s/%s/%s](../test/%[3]s/%[4]s/%[5]s).\n\n",
		strings.TrimPrefix(filepath.Ext(file), "."), content, clients.Folder, client.Program, client.File)
}
