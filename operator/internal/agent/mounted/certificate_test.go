package mounted_test

import (
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
)

func TestClientCAsAreLoadedOnlyIfClientCertificatesAreRequested(t *testing.T) {
	dir, secret := t.TempDir(), agenttest.NewCertificate(t, nil).Secret()
	secret["ca.crt"] = agenttest.NewCertificate(t, nil).PEM
	agenttest.Mount(t, dir, secret)
	for requested, want := range map[bool]int{true: 1, false: 0} {
		content, err := mounted.Certificate{Dir: dir, ClientCA: requested}.Load()
		if err != nil || len(content.ClientCAs) != want {
			t.Errorf("requested %t: %+v, error %v", requested, content, err)
		}
	}
}
