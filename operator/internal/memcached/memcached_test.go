package memcached

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestArguments(t *testing.T) {
	got := Arguments(Settings{
		ItemMemory: 100*Mebibyte + 5, Port: 11211, MaxConnections: 2048, Threads: 8, MaxItemSize: 4096,
		ExtraArguments: []string{"-f", "1.08"},
	})
	want := []string{
		"--port=11211", "--memory-limit=100", "--conn-limit=2123", "--threads=8", "--max-item-size=4096", "-f", "1.08",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestTheItemMemoryOfArguments(t *testing.T) {
	settings := Settings{ItemMemory: 512 * Mebibyte, ExtraArguments: []string{"--verbose"}}
	for _, tc := range []struct {
		arguments []string
		want      int64
	}{
		{Arguments(settings), 512 * Mebibyte},
		{[]string{"--threads=4"}, 0},
		{[]string{"--memory-limit=many"}, 0},
	} {
		if got := ItemMemoryOf(tc.arguments); got != tc.want {
			t.Errorf("%v: %d, want %d", tc.arguments, got, tc.want)
		}
	}
}

func TestArgumentsOfTLSAndAuthentication(t *testing.T) {
	certificate := TLS{Port: 11212, Certificate: "/t/tls.crt", Key: "/t/tls.key"}
	tests := map[string]struct {
		change func(*TLS)
		want   []string
	}{
		"plaintext is for the Pod alone": {func(*TLS) {}, []string{
			"--listen=notls:127.0.0.1:11211,*:11212", "--enable-ssl", "--extended=ssl_chain_cert=/t/tls.crt,ssl_key=/t/tls.key"}},
		"plaintext is for all": {func(s *TLS) { s.Plaintext = true }, []string{
			"--listen=notls:*:11211,*:11212", "--enable-ssl", "--extended=ssl_chain_cert=/t/tls.crt,ssl_key=/t/tls.key"}},
		"a client may show a certificate": {func(s *TLS) { s.ClientCA = "/t/ca.crt" }, []string{
			"--listen=notls:127.0.0.1:11211,*:11212", "--enable-ssl",
			"--extended=ssl_chain_cert=/t/tls.crt,ssl_key=/t/tls.key,ssl_ca_cert=/t/ca.crt,ssl_verify_mode=1"}},
		"a client has to show a certificate": {func(s *TLS) { s.ClientCA, s.Require = "/t/ca.crt", true }, []string{
			"--listen=notls:127.0.0.1:11211,*:11212", "--enable-ssl",
			"--extended=ssl_chain_cert=/t/tls.crt,ssl_key=/t/tls.key,ssl_ca_cert=/t/ca.crt,ssl_verify_mode=2"}},
		"TLS 1.3 alone": {func(s *TLS) { s.Only13 = true }, []string{
			"--listen=notls:127.0.0.1:11211,*:11212", "--enable-ssl",
			"--extended=ssl_chain_cert=/t/tls.crt,ssl_key=/t/tls.key,ssl_min_version=3"}},
		"cipher suites": {func(s *TLS) { s.Ciphers = []string{"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-SHA"} }, []string{
			"--listen=notls:127.0.0.1:11211,*:11212", "--enable-ssl",
			"--extended=ssl_chain_cert=/t/tls.crt,ssl_key=/t/tls.key,ssl_ciphers=ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-SHA"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings := certificate
			tc.change(&settings)
			arguments := Arguments(Settings{Port: 11211, TLS: &settings, AuthFile: "/a/users"})
			got := slices.Concat(arguments[:1], arguments[5:])
			if diff := cmp.Diff(append(tc.want, "--auth-file=/a/users"), got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContainerMemory(t *testing.T) {
	defaults := Settings{ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads}
	base := ContainerMemory(defaults)
	tests := map[string]struct {
		change func(*Settings)
		more   int64
	}{
		"nothing changed": {func(*Settings) {}, 0},
		"items take themselves, 1 % and the hash table":  {func(s *Settings) { s.ItemMemory = 1024 * Mebibyte }, (960 + 10 + 90) * Mebibyte},
		"1024 connections more take 100 MiB":             {func(s *Settings) { s.MaxConnections += 1024 }, 100 * Mebibyte},
		"two threads more take 1 MiB":                    {func(s *Settings) { s.Threads += 2 }, Mebibyte},
		"1024 connections by TLS take 32 MiB more":       {func(s *Settings) { s.TLS = &TLS{} }, 32 * Mebibyte},
		"larger items take none: they lie in the memory": {func(s *Settings) { s.MaxItemSize = 32 * Mebibyte }, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings := defaults
			tc.change(&settings)
			if got := ContainerMemory(settings) - base; got != tc.more {
				t.Errorf("%d bytes more, want %d", got, tc.more)
			}
		})
	}
	if base%Mebibyte != 0 {
		t.Errorf("%d is no whole number of mebibytes", base)
	}
}

func TestOrdinaryMemory(t *testing.T) {
	defaults := Settings{ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads}
	tests := map[string]struct {
		change func(*Settings)
		want   int64
	}{
		"the defaults":                   {func(*Settings) {}, 113},
		"by TLS":                         {func(s *Settings) { s.TLS = &TLS{} }, 130},
		"1 GiB":                          {func(s *Settings) { s.ItemMemory = 1024 * Mebibyte }, 1172},
		"16 GiB":                         {func(s *Settings) { s.ItemMemory = 16 * 1024 * Mebibyte }, 18126},
		"ten times the connections more": {func(s *Settings) { s.MaxConnections *= 11 }, 267},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			settings := defaults
			tc.change(&settings)
			got := OrdinaryMemory(settings)
			if got != tc.want*Mebibyte || got >= ContainerMemory(settings) {
				t.Errorf("%d MiB, want %d, below %d", got/Mebibyte, tc.want, ContainerMemory(settings)/Mebibyte)
			}
		})
	}
}

func TestHashTable(t *testing.T) {
	tests := map[string]struct{ itemMemory, want int64 }{
		"it begins with 65536 buckets":             {16 * Mebibyte, 3 * Mebibyte / 2},
		"it stays up to 1.5 items a bucket":        {144 * Mebibyte, 12 * Mebibyte},
		"it doubles with one item more than that":  {144*Mebibyte + smallestItem, 24 * Mebibyte},
		"it is in proportion: 2^n takes 3/32 more": {1 << 40, 3 << 35},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hashTable(tc.itemMemory); got != tc.want {
				t.Errorf("hashTable(%d) = %d, want %d", tc.itemMemory, got, tc.want)
			}
		})
	}
}

// TestTheTableOfLimitsIsThatOfTheSum reads the table in docs/memory.md, whose columns are connections and threads.
func TestTheTableOfLimitsIsThatOfTheSum(t *testing.T) {
	content, err := os.ReadFile("../../../docs/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "| 1024 connections, 4 threads (default) | 4096, 4 | 10000, 8 | 50000, 16 |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	columns := []Settings{
		{MaxConnections: 1024, Threads: 4}, {MaxConnections: 4096, Threads: 4},
		{MaxConnections: 10000, Threads: 8}, {MaxConnections: 50000, Threads: 16},
	}
	rows := strings.Split(table, "\n")
	if len(rows) != 10 {
		t.Fatalf("the table has %d lines, want 9 and the rule:\n%s", len(rows), table)
	}
	for _, row := range rows[1:] {
		memory, _, _ := strings.Cut(strings.Trim(row, "| "), " ")
		quantity := resource.MustParse(memory)
		want := "| " + memory + " |"
		for _, settings := range columns {
			settings.ItemMemory = quantity.Value()
			want += fmt.Sprintf(" %dMi, %dMi |", ContainerMemory(settings)/Mebibyte, OrdinaryMemory(settings)/Mebibyte)
		}
		if row != want {
			t.Errorf("docs/memory.md (-written +sum):\n- %s\n+ %s", row, want)
		}
	}
}
