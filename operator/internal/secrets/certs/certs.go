// Package certs reads the certificate in a Secret. It accepts only what memcached can load.
//
// Both programs use it: the operator to report an invalid Secret, and the agent to check a new Secret before memcached
// loads it.
package certs

// The certificate, its key and the CAs of its clients.

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
)

// Keys of the Secret.
const (
	KeyCertificate = "tls.crt"
	KeyPrivateKey  = "tls.key"
	KeyClientCA    = "ca.crt"
)

// Content is the content of a Secret that memcached can load.
type Content struct {
	// Leaf is the certificate itself, without intermediate CAs.
	Leaf *x509.Certificate

	// ClientCAs are the CAs of the clients; none if no client certificates are requested.
	ClientCAs []*x509.Certificate

	// Sum changes with every change to the content that memcached loads.
	Sum string
}

// Parse reads the entries of a Secret. It rejects content that memcached could not load: memcached replaces the
// certificate before it checks the key and the CAs, so every new handshake would fail with a certificate and a key that
// do not match.
func Parse(secret map[string][]byte, clientCA bool) (*Content, error) {
	for _, key := range []string{KeyCertificate, KeyPrivateKey} {
		if len(secret[key]) == 0 {
			return nil, fmt.Errorf("the Secret has no %s: it has to be of the type kubernetes.io/tls", key)
		}
	}
	chain, err := certificates(KeyCertificate, secret[KeyCertificate])
	if err != nil {
		return nil, err
	}
	if err := keyPair(secret); err != nil {
		return nil, fmt.Errorf("%s and %s are not a key pair that memcached can load: %w", KeyCertificate, KeyPrivateKey, err)
	}
	if err := strong(chain[0]); err != nil {
		return nil, err
	}
	if !clientCA {
		return &Content{Leaf: chain[0], Sum: sum(secret, KeyCertificate, KeyPrivateKey)}, nil
	}
	content, ok := secret[KeyClientCA]
	if !ok {
		return nil, fmt.Errorf("the Secret has no %s, which memcached needs to verify clients: "+
			"add the CAs of the clients, or do not require client certificates", KeyClientCA)
	}
	clientCAs, err := certificates(KeyClientCA, content)
	if err != nil {
		return nil, err
	}
	return &Content{
		Leaf: chain[0], ClientCAs: clientCAs, Sum: sum(secret, KeyCertificate, KeyPrivateKey, KeyClientCA),
	}, nil
}

// keyPair returns an error that contains nothing of the key. Go's own error would list the types of all other PEM
// blocks, which can be any text.
func keyPair(secret map[string][]byte) error {
	isKey := func(block *pem.Block) bool { return strings.HasSuffix(" "+block.Type, " PRIVATE KEY") }
	block, rest := pem.Decode(secret[KeyPrivateKey])
	for block != nil && !isKey(block) {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return fmt.Errorf("%s has no PEM block of a private key", KeyPrivateKey)
	}
	_, err := tls.X509KeyPair(secret[KeyCertificate], secret[KeyPrivateKey])
	return err
}

// strong rejects a key that OpenSSL does not load at its security level 2, which distributions set.
func strong(leaf *x509.Certificate) error {
	const least = 2048
	if key, ok := leaf.PublicKey.(*rsa.PublicKey); ok && key.Size()*8 < least {
		return fmt.Errorf("%s: an RSA key of %d bits: memcached loads none below %d", KeyCertificate, key.Size()*8, least)
	}
	return nil
}

// certificates parses all certificates of a PEM file. Go skips a malformed block, but OpenSSL fails.
func certificates(key string, content []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s, certificate %d: %w", key, len(list)+1, err)
		}
		list = append(list, certificate)
	}
	if begun := bytes.Count(content, []byte("-----BEGIN CERTIFICATE-----")); len(list) == 0 || begun != len(list) {
		return nil, fmt.Errorf("%s: %d certificates begin, but %d are complete: use PEM blocks", key, begun, len(list))
	}
	return list, nil
}

func sum(secret map[string][]byte, keys ...string) string {
	hash := sha256.New()
	for _, key := range keys {
		fmt.Fprintf(hash, "%s %d\n", key, len(secret[key]))
		_, _ = hash.Write(secret[key])
	}
	return string(hash.Sum(nil))
}
