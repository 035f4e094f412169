package certs

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

func TestParse(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	one, other := agenttest.NewCertificate(t, ca), agenttest.NewCertificate(t, ca)
	broken := strings.Replace(ca.PEM, "MII", "!!!", 1)
	tests := map[string]struct {
		change map[string]string
		want   string
	}{
		"a pair":                       {nil, "<nil>"},
		"a chain":                      {map[string]string{"tls.crt": one.PEM + ca.PEM}, "<nil>"},
		"client CAs":                   {map[string]string{"ca.crt": ca.PEM + other.PEM}, "<nil>"},
		"no client CA":                 {map[string]string{"ca.crt": "-"}, "the Secret has no ca.crt, which memcached needs to verify clients"},
		"an RSA key that is too short": {weakPair(t), "tls.crt: an RSA key of 1024 bits: memcached loads none below 2048"},
		"text between the blocks":      {map[string]string{"tls.crt": "owned\n" + one.PEM + "\nits CA\n" + ca.PEM}, "<nil>"},
		"a key in the same entry as the certificate": {map[string]string{"tls.crt": one.Key + one.PEM}, "<nil>"},
		"no certificate":                      {map[string]string{"tls.crt": ""}, "the Secret has no tls.crt: it has to be of the type kubernetes.io/tls"},
		"no key":                              {map[string]string{"tls.key": ""}, "the Secret has no tls.key"},
		"the key of another":                  {map[string]string{"tls.key": other.Key}, "tls.crt and tls.key are not a key pair that memcached can load"},
		"the CA before the certificate":       {map[string]string{"tls.crt": ca.PEM + one.PEM}, "tls.crt and tls.key are not a key pair"},
		"no PEM":                              {map[string]string{"tls.crt": "hello"}, "tls.crt: 0 certificates begin, but 0 are complete"},
		"a key that is none":                  {map[string]string{"tls.key": "hello"}, "tls.crt and tls.key are not a key pair"},
		"a chain that is broken later on":     {map[string]string{"tls.crt": one.PEM + broken}, "tls.crt: 2 certificates begin, but 1 are complete"},
		"a chain that is cut off":             {map[string]string{"tls.crt": one.PEM + ca.PEM[:100]}, "tls.crt: 2 certificates begin, but 1 are complete"},
		"a chain with something else in it":   {map[string]string{"tls.crt": one.PEM + strings.ReplaceAll(one.Key, "EC PRIVATE KEY", "CERTIFICATE")}, "tls.crt, certificate 2: x509: "},
		"client CAs that are empty":           {map[string]string{"ca.crt": ""}, "ca.crt: 0 certificates begin"},
		"client CAs that are broken later on": {map[string]string{"ca.crt": ca.PEM + broken}, "ca.crt: 2 certificates begin, but 1 are complete"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			secret := one.Secret()
			secret["ca.crt"] = ca.PEM
			maps.Copy(secret, tc.change)
			maps.DeleteFunc(secret, func(_, content string) bool { return content == "-" })
			got, err := Parse(entries(secret), true)
			if !strings.Contains(fmt.Sprint(err), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if err == nil && !got.Leaf.Equal(one.Parsed) {
				t.Errorf("the certificate of %s", got.Leaf.Subject)
			}
			if key := strings.Split(one.Key, "\n")[1]; strings.Contains(fmt.Sprint(err), key) {
				t.Errorf("the error contains the key: %v", err)
			}
		})
	}
}

// entries returns the data of a Secret in the form in which the API server returns data.
func entries(secret map[string]string) map[string][]byte {
	content := map[string][]byte{}
	for key, value := range secret {
		content[key] = []byte(value)
	}
	return content
}

// weakPair returns a certificate with a key that OpenSSL refuses.
func weakPair(t *testing.T) map[string]string {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"tls.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"tls.key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	}
}

func TestClientCAsAreIgnoredWithoutClientCertificates(t *testing.T) {
	one := agenttest.NewCertificate(t, nil)
	var sums []string
	for _, ca := range []string{"", "malformed", one.PEM} {
		secret := one.Secret()
		secret["ca.crt"] = ca
		got, err := Parse(entries(secret), false)
		if err != nil || len(got.ClientCAs) > 0 {
			t.Fatalf("ca.crt %q: %d CAs, error %v", ca, len(got.ClientCAs), err)
		}
		sums = append(sums, got.Sum)
	}
	if sums = slices.Compact(sums); len(sums) != 1 {
		t.Errorf("%d versions to load, want one", len(sums))
	}
}

func TestTheSumChangesWithEveryEntry(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	one := agenttest.NewCertificate(t, ca)
	sums := map[string]string{}
	for name, change := range map[string]map[string]string{
		"the pair": {"ca.crt": one.PEM + ca.PEM}, "a chain": {"tls.crt": one.PEM + ca.PEM}, "a client CA": {"ca.crt": ca.PEM},
		"another client CA": {"ca.crt": one.PEM}, "a line end": {"tls.key": one.Key + "\n"},
	} {
		secret := one.Secret()
		secret["ca.crt"] = one.PEM + ca.PEM
		maps.Copy(secret, change)
		for range 2 {
			content, err := Parse(entries(secret), true)
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := sums[content.Sum]; ok && before != name {
				t.Errorf("%s and %s have the same sum", before, name)
			}
			sums[content.Sum] = name
		}
	}
	if len(sums) != 5 {
		t.Errorf("%d sums of 5 Secrets", len(sums))
	}
}
