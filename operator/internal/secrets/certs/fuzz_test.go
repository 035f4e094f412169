package certs

import (
	"encoding/pem"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

// FuzzAnErrorHoldsNothingOfTheKey: the operator copies the error into the status, which more people may read than the
// Secret.
func FuzzAnErrorHoldsNothingOfTheKey(f *testing.F) {
	f.Add("PRIVATE KEY", []byte("x"), "")
	f.Add("correct-horse-battery", []byte("x"), "user: shop")
	f.Add("", []byte(nil), "-----BEGIN correct-horse-battery-----\n")
	f.Add("EC PRIVATE KEY", []byte("correct-horse-battery"), "correct-horse-battery")
	good := agenttest.NewCertificate(f, nil)
	f.Fuzz(func(t *testing.T, kind string, der []byte, text string) {
		secret := map[string][]byte{KeyCertificate: []byte(good.PEM)}
		secret[KeyPrivateKey] = append([]byte(text+"\n"), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
		_, err := Parse(secret, false)
		if err == nil {
			return
		}
		const known = "tls.crt and tls.key are not a key pair that memcached can load: tls: failed to parse private key " +
			"tls.key has no PEM block of a private key found a certificate rather than the Secret has no"
		for _, content := range []string{kind, string(der), text} {
			if len(content) > 7 && !strings.Contains(known, content) && strings.Contains(err.Error(), content) {
				t.Errorf("the error holds %q of the Secret: %v", content, err)
			}
		}
	})
}
