package actions

import (
	"bytes"
	"crypto/tls"
	"math/rand/v2"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

func TestEachValueOfASecretHasTheMarker(t *testing.T) {
	w := &world.World{Random: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // any numbers do
	for _, purpose := range []string{forTLS, forAuth} {
		for _, holds := range []string{holdsValid, holdsExpired, holdsMalformed, holdsTooMany, holdsRenamed, holdsWrongType} {
			secret, err := content(w, purpose, holds)
			if err != nil {
				t.Fatal(err)
			}
			for key, value := range secret.Data {
				if !bytes.Contains(value, []byte(history.SecretMarker)) {
					t.Errorf("%s, %s: %s does not have the marker:\n%s", purpose, holds, key, value)
				}
			}
		}
	}
}

func TestTheMarkerLeavesACertificateValid(t *testing.T) {
	data, err := certificate(holdsValid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"]); err != nil {
		t.Error(err)
	}
}
