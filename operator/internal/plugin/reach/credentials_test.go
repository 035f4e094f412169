package reach

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

// secretsOf are the Secrets that the user may read, by name. All other Secrets exist, but the user may not read them.
type secretsOf map[string]map[string]string

func (s secretsOf) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	content, ok := s[key.Name]
	if !ok {
		return apierrors.NewForbidden(corev1.Resource("secrets"), key.Name, errors.New("no right"))
	}
	secret := object.(*corev1.Secret)
	secret.Data = map[string][]byte{}
	for name, value := range content {
		secret.Data[name] = []byte(value)
	}
	return nil
}

func (s secretsOf) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("a list of Secrets has all of the namespace")
}

func secured() *cachev1.Memcached {
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "")
	mc.Spec.TLS, mc.Spec.Auth = &cachev1.TLS{SecretName: "server"}, &cachev1.Auth{SecretName: "users"}
	mc.Status.Slots = []cachev1.SlotStatus{{Name: "shop-0", Address: "shop-0.shop-slots.team.svc:11212"}}
	return mc
}

func named(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

// write writes files, and returns their paths.
func write(t *testing.T, contents ...string) (paths []string) {
	t.Helper()
	for _, content := range contents {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// handshake connects to a server that presents a certificate.
func handshake(t *testing.T, config *tls.Config, served *agenttest.Certificate) error {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(served.Secret()["tls.crt"]), []byte(served.Secret()["tls.key"]))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.TLS, server.Config.ErrorLog = &tls.Config{Certificates: []tls.Certificate{pair}}, log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	connection, err := tls.Dial("tcp", server.Listener.Addr().String(), config)
	if err == nil {
		_ = connection.Close()
	}
	return err
}

func TestAServerIsVerifiedByTheSecretOfTheCache(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	own := agenttest.NewCertificateWith(t, ca, named("shop.team.svc"))
	secret := own.Secret()
	secret["ca.crt"] = ca.PEM
	other := agenttest.NewCertificate(t, nil)
	for name, tc := range map[string]struct {
		served   *agenttest.Certificate
		accepted [3]bool // by the Secret of the certificate, by that of the binding, by a file
	}{
		"its certificate":                  {own, [3]bool{true, true, true}},
		"a later one":                      {agenttest.NewCertificateWith(t, ca, named("shop.team.svc")), [3]bool{true, true, true}},
		"one for slots, by the same CA":    {agenttest.NewCertificateWith(t, ca, named("*.shop-slots.team.svc")), [3]bool{false, true, true}},
		"one with the domain of a cluster": {agenttest.NewCertificateWith(t, ca, named("shop.team.svc.test")), [3]bool{false, true, true}},
		"that of another cache":            {agenttest.NewCertificateWith(t, ca, named("mail.team.svc")), [3]bool{}},
		"one by another CA":                {agenttest.NewCertificateWith(t, other, named("shop.team.svc")), [3]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			bound := secured()
			bound.Status.Binding = &cachev1.BindingStatus{Name: "binding"}
			readable := secretsOf{"server": secret, "users": {"users": "a:b"}}
			files := Files{CA: write(t, ca.PEM)[0], Users: write(t, "app:secret\n")[0]}
			for i, found := range []func() (Credentials, error){
				func() (Credentials, error) { return CredentialsOf(t.Context(), readable, secured(), Files{}) },
				func() (Credentials, error) {
					return CredentialsOf(t.Context(), secretsOf{"binding": {
						"ca.crt": ca.PEM, "username": "app", "password": "secret",
					}}, bound, Files{})
				},
				func() (Credentials, error) { return CredentialsOf(t.Context(), secretsOf{}, secured(), files) },
			} {
				credentials, err := found()
				if err != nil {
					t.Fatal(err)
				}
				if err := handshake(t, credentials.TLS, tc.served); (err == nil) != tc.accepted[i] {
					t.Errorf("source %d: %v", i, err)
				}
			}
		})
	}
}

func TestAnErrorNamesTheSecretTheRightAndTheFile(t *testing.T) {
	certificate := agenttest.NewCertificate(t, nil)
	readable := secretsOf{"server": certificate.Secret(), "users": {"username": "app"}}
	for name, tc := range map[string]struct {
		unread string
		files  Files
		want   string
	}{
		"no right to the certificate": {"server", Files{}, "you have no right to get Secret team/server: add it to your Role, or give a file by --memcached-ca"},
		"no right to the users":       {"users", Files{}, "you have no right to get Secret team/users: add it to your Role, or give a file by --memcached-users"},
		"an invalid Secret":           {"", Files{}, "the Secret team/users is invalid: the Secret needs username and password"},
		"no such file":                {"", Files{CA: "/does/not/exist"}, "--memcached-ca: open /does/not/exist"},
		"no CA in the file":           {"", Files{CA: write(t, "x")[0]}, "/file has no CA in PEM: the servers of team/shop cannot be verified"},
		"no key pair":                 {"", Files{CA: write(t, certificate.PEM)[0], Certificate: "/a", Key: "/b"}, "--memcached-certificate /a and --memcached-key /b are no key pair"},
		"no colon in the users":       {"", Files{Users: write(t, "app secret")[0]}, "line 1: no colon"},
	} {
		t.Run(name, func(t *testing.T) {
			secrets := maps.Clone(readable)
			delete(secrets, tc.unread)
			_, err := CredentialsOf(t.Context(), secrets, secured(), tc.files)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "app secret") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestACacheWithoutTLSAndLoginNeedsNoSecret(t *testing.T) {
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "")
	credentials, err := CredentialsOf(t.Context(), secretsOf{}, mc, Files{})
	if err != nil || credentials.TLS != nil || credentials.Users != nil {
		t.Errorf("got %+v, %v", credentials, err)
	}
}

func TestFilesBelongTogether(t *testing.T) {
	for _, files := range []Files{{Certificate: "a"}, {Key: "a", CA: "b"}, {Certificate: "a", Key: "b"}} {
		if files.Check() == nil {
			t.Errorf("%+v is accepted", files)
		}
	}
	if err := (Files{CA: "a", Certificate: "b", Key: "c"}).Check(); err != nil {
		t.Error(err)
	}
}

func TestServersWithSlotsComeFirst(t *testing.T) {
	mc := secured()
	mc.Status.Slots = append(mc.Status.Slots, cachev1.SlotStatus{Name: "shop-1"}, cachev1.SlotStatus{Name: "shop-2"})
	pods := []corev1.Pod{
		cachetest.Pod("shop", "1aaaa", "a"), cachetest.Pod("shop", "2bbbb", "a"), cachetest.Pod("shop", "3cccc", "a"),
	}
	mc.Status.Slots[0].Pod, mc.Status.Slots[2].Pod = pods[2].Name, pods[1].Name
	pods[1] = cachetest.Pending(pods[1], "no room")
	var got []string
	for _, server := range ServersOf(mc, pods) {
		got = append(got, server.Slot+" "+server.Pod)
	}
	if want := []string{"shop-0 " + pods[2].Name, " " + pods[0].Name}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
