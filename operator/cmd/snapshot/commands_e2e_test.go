//go:build e2e

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// s3 starts a server of S3 with the bucket "backups", and returns the URL of the bucket.
func s3(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "password")
	return "s3://backups?region=eu-central-1&use_path_style=true&prefix=caches/&endpoint=" + server.URL
}

// fields runs a command with -o=json, and returns its result.
func fields(t *testing.T, arguments ...string) (r result) {
	t.Helper()
	out, err := run(t, append(arguments, "-o=json")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func TestACacheIsSavedInS3AndRestored(t *testing.T) {
	const keys = 50_000
	bucket := s3(t)
	from, to := memcachedtest.Start(t), memcachedtest.Start(t)
	storeMany(t, from.Address, 0, keys)
	saved := fields(t, "save", "--to="+bucket, "--cache=shop", "--server=shop-0="+from.Address, "--bytes-per-second=0")
	if saved.Items != keys || !strings.HasPrefix(saved.Name, "shop-2") || saved.LeftOut == nil {
		t.Fatalf("%+v", saved)
	}
	if whole := fields(t, "verify", "--from="+bucket, "--name="+saved.Name); whole.Items != keys || whole.Stored != saved.Stored {
		t.Errorf("%+v", whole)
	}
	restored := fields(t, "restore", "--from="+bucket, "--name="+saved.Name, "--server=shop-0="+to.Address)
	if restored.Restored.Added != keys || count(t, to.Address) != keys {
		t.Errorf("%+v", restored)
	}
	_, err := run(t, "verify", "--from="+bucket, "--name=other")
	if err == nil || !strings.Contains(err.Error(), "The whole snapshots are "+saved.Name) {
		t.Error(err)
	}
	_, err = run(t, "save", "--to="+bucket, "--name="+saved.Name, "--server=shop-0="+from.Address)
	if err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Error(err)
	}
}

// TestASnapshotOfAnotherOwnerIsNotReported: save does not report it as saved, although its cache, servers and name are
// the same.
func TestASnapshotOfAnotherOwnerIsNotReported(t *testing.T) {
	from := memcachedtest.Start(t)
	for _, to := range []string{s3(t), t.TempDir()} {
		save := []string{"save", "--to=" + to, "--cache=shop", "--name=daily", "--once", "--server=shop-0=" + from.Address}
		storeMany(t, from.Address, 0, 100)
		first := fields(t, append(save, "--owner=a")...)
		storeMany(t, from.Address, 100, 100)
		if again := fields(t, append(save, "--owner=a")...); again.Items != first.Items || again.Time != first.Time {
			t.Errorf("the next attempt: %+v, and not %+v", again, first)
		}
		_, err := run(t, append(save, "--owner=b")...)
		if err == nil || !strings.Contains(err.Error(), `It was made for the owner "a", and not for the owner "b"`) {
			t.Error(err)
		}
	}
}

// TestACacheOfAnotherSizeIsRestored restores a snapshot of two servers into three. The clients' hash of the servers'
// addresses decides which server gets a key.
func TestACacheOfAnotherSizeIsRestored(t *testing.T) {
	const keys = 3000
	save := []string{"save", "--to=" + t.TempDir(), "--name=daily"}
	for i := range 2 {
		server := memcachedtest.Start(t)
		storeMany(t, server.Address, i*keys, keys)
		save = append(save, fmt.Sprintf("--server=shop-%d=%s", i, server.Address))
	}
	fields(t, save...)
	restore := []string{"restore", "--from=" + strings.TrimPrefix(save[1], "--to="), "--name=daily"}
	var to []*memcachedtest.Server
	for i := range 3 {
		to = append(to, memcachedtest.Start(t))
		restore = append(restore, fmt.Sprintf("--server=shop-%d=%s", i, to[i].Address))
	}
	if _, err := run(t, restore...); err == nil || !strings.Contains(err.Error(), "set --client-hash") {
		t.Error(err)
	}
	fields(t, append(restore, "--client-hash=Rendezvous")...)
	sum := 0
	for _, server := range to {
		held := count(t, server.Address)
		if sum += held; held < keys/2 {
			t.Errorf("a server has %d keys", held)
		}
	}
	if sum != 2*keys {
		t.Errorf("%d keys", sum)
	}
}

// TestASecuredCacheIsSavedAndRestored saves and restores a cache over TLS, with a login.
func TestASecuredCacheIsSavedAndRestored(t *testing.T) {
	ca, address := agenttest.NewCertificate(t, nil), unused.Address(t)
	host, _, _ := net.SplitHostPort(address)
	secret := agenttest.NewCertificateWith(t, ca, func(c *x509.Certificate) {
		c.IPAddresses = append(c.IPAddresses, net.ParseIP(host))
	}).Secret()
	secret["ca.crt"] = ca.PEM
	tlsDir, authDir, userFile := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "users")
	agenttest.Mount(t, tlsDir, secret)
	agenttest.Mount(t, authDir, map[string]string{"username": "shop", "password": "secret-word"})
	if err := users.WriteFile(userFile, []users.User{{Name: "shop", Password: "secret-word"}}); err != nil {
		t.Fatal(err)
	}
	memcachedtest.StartAt(t, address, "--auth-file="+userFile, "--enable-ssl",
		fmt.Sprintf("--extended=ssl_chain_cert=%[1]s/tls.crt,ssl_key=%[1]s/tls.key", tlsDir))
	config := func(host string) (*tls.Config, error) { return mounted.Client(tlsDir, host) }
	place := t.TempDir()
	set := func(command, want string) {
		t.Helper()
		connection, err := peer.Dialer(address, authDir, config)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if answer, err := protocol.New(connection).Ask(t.Context(), command); err != nil || answer != want {
			t.Fatalf("%q, %v", answer, err)
		}
	}
	set("ms a 5\r\nvalue\r\n", "HD")
	arguments := []string{"--name=daily", "--server=shop-0=" + address, "--tls-dir=" + tlsDir, "--auth-dir=" + authDir}
	for name, wrong := range map[string]string{"tls": "--tls-dir=", "login": "--auth-dir="} {
		_, err := run(t, append(slices.Clone(arguments), "save", "--to="+place, wrong)...)
		if err == nil || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	_, err := run(t, append(slices.Clone(arguments), "save", "--to="+place, "--tls-server-name=other.example.com")...)
	if err == nil || !strings.Contains(err.Error(), "other.example.com") {
		t.Errorf("with another name: %v", err)
	}
	fields(t, append(slices.Clone(arguments), "save", "--to="+place, "--tls-server-name="+host)...)
	set("md a\r\n", "HD")
	fields(t, append(slices.Clone(arguments), "restore", "--from="+place)...)
	set("mg a s\r\n", "HD s5")
}

// TestAProcessThatIsKilledLeavesNothingThatIsRestored kills processes, each after more time than the one before, until
// a process ends before it would be killed.
func TestAProcessThatIsKilledLeavesNothingThatIsRestored(t *testing.T) {
	const keys, step = 40_000, 15 * time.Millisecond
	program, place := build(t), t.TempDir()
	from, to := memcachedtest.Start(t), memcachedtest.Start(t)
	storeMany(t, from.Address, 0, keys)
	killed := 0
	for name, after := 0, step; ; name, after = name+1, after+step {
		command := exec.CommandContext(t.Context(), program, "save", "--to="+place, "--name="+strconv.Itoa(name),
			"--server=shop-0="+from.Address, "--server=shop-1="+to.Address)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = command.Process.Kill() })
		err := command.Wait()
		timer.Stop()
		_, whole := run(t, "verify", "--from="+place, "--name="+strconv.Itoa(name))
		if err == nil && whole != nil {
			t.Fatalf("it ended well, and yet: %v", whole)
		}
		if whole == nil {
			break
		}
		killed++
		_, err = run(t, "restore", "--from="+place, "--name="+strconv.Itoa(name), "--server=shop-0="+to.Address,
			"--server=shop-1="+from.Address)
		if err == nil || count(t, to.Address) > 0 {
			t.Fatalf("killed after %s, and restored %d keys: %v", after, count(t, to.Address), err)
		}
	}
	t.Logf("killed %d times", killed)
	if killed < 5 {
		t.Error("it is too fast to be killed")
	}
}
