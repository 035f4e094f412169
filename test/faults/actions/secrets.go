package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// secretNames are the names of the Secrets in the specs of a run: for the certificate, for the users, and for the
// binding. The operator writes the Secret of the binding.
var secretNames = map[string][]string{
	forTLS: {"tls", "tls-2"}, forAuth: {"users"}, forBinding: {"binding", "binding-2"},
}

// These are the purposes of a Secret. Each is also the name of the spec's field that names the Secret.
const (
	forTLS     = "tls"
	forAuth    = "auth"
	forBinding = "binding"
)

func drawPurpose(r *rand.Rand) string { return one(r, forTLS, forAuth, forBinding) }

// These are the kinds of content of a Secret.
const (
	holdsValid     = history.HoldsValid
	holdsExpired   = "expired" // or expires soon
	holdsMalformed = "malformed"
	holdsTooMany   = "tooMany" // too many users, or a certificate that does not match the key
	holdsRenamed   = "renamed" // the keys of the Secret have other names
	holdsEmpty     = "empty"
	holdsWrongType = "wrongType"
)

// versions has the contents that are written to a Secret one after the other.
type versions struct {
	Secret string          `json:"secret"`
	For    string          `json:"for"` // a purpose
	Hold   []string        `json:"hold"`
	Pause  metav1.Duration `json:"pause"`
}

// naming is a change to the spec, which then names a Secret.
type naming struct {
	Patch json.RawMessage `json:"patch"`
}

// named is the argument of actions on a Secret.
type named struct {
	Secret string `json:"secret"`
}

func secrets() []Action {
	return []Action{
		{plan.Action{Name: "a Secret is written", Weight: 3, Draw: func(r *rand.Rand) any {
			return drawVersions(r, 1)
		}}, given(writeSecret)},
		{plan.Action{Name: "a Secret rotates in a burst", Weight: 2, Draw: func(r *rand.Rand) any {
			return drawVersions(r, 3+r.IntN(8))
		}}, given(writeSecret)},
		{plan.Action{Name: "a Secret is deleted", Weight: 2, Draw: func(r *rand.Rand) any {
			return named{one(r, secretNames[drawPurpose(r)]...)}
		}}, given(deleteSecret)},
		{plan.Action{Name: "the spec names a Secret", Weight: 4, Draw: drawNaming}, given(nameSecret)},
	}
}

func drawVersions(r *rand.Rand, number int) versions {
	purpose := drawPurpose(r)
	v := versions{Secret: one(r, secretNames[purpose]...), For: purpose, Pause: metav1.Duration{
		Duration: time.Duration(r.IntN(200)) * time.Millisecond,
	}}
	for range number {
		v.Hold = append(v.Hold, one(r, holdsValid, holdsValid, holdsValid, holdsValid, holdsExpired,
			holdsMalformed, holdsTooMany, holdsRenamed, holdsEmpty, holdsWrongType))
	}
	return v
}

// writeSecret creates a Secret, or replaces its content, once or in a burst.
func writeSecret(ctx context.Context, w *world.World, _ plan.Step, with versions) error {
	var contents []*corev1.Secret
	for _, hold := range with.Hold {
		secret, err := content(w, with.For, hold)
		if err != nil {
			return err
		}
		secret.Namespace, secret.Name = w.Namespace, with.Secret
		contents = append(contents, secret)
	}
	if len(contents) == 1 {
		return putSecret(ctx, w, contents[0])
	}
	next := 0
	inParallel(ctx, w, func(ctx context.Context) error {
		return repeat(ctx, len(contents), with.Pause.Duration, func(ctx context.Context) error {
			next++
			return putSecret(ctx, w, contents[next-1])
		})
	})
	return nil
}

// putSecret writes a Secret. If it exists with another type, it is deleted and created again, because the type cannot
// be changed.
func putSecret(ctx context.Context, w *world.World, secret *corev1.Secret) error {
	return intrude(ctx, func(ctx context.Context) error {
		now := &corev1.Secret{}
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(secret), now)
		if err == nil && now.Type == secret.Type {
			now.Data, now.Annotations = secret.Data, secret.Annotations
			return w.Client.Update(ctx, now, thirdParty)
		}
		if err == nil {
			err = w.Client.Delete(ctx, now)
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		return w.Client.Create(ctx, secret.DeepCopy(), thirdParty)
	})
}

func deleteSecret(ctx context.Context, w *world.World, _ plan.Step, with named) error {
	return intrude(ctx, func(ctx context.Context) error {
		return w.Client.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: with.Secret}})
	})
}

// drawNaming draws a Secret for the spec to name. This may be one that does not exist, or none.
func drawNaming(r *rand.Rand) any {
	purpose := drawPurpose(r)
	patch := "null"
	if r.IntN(5) > 0 {
		patch = `{"secretName":"` + one(r, secretNames[purpose]...) + `"`
		if purpose == forTLS {
			patch += one(r, "", "", `,"clientAuth":"Require"`, `,"clientAuth":"Request"`, `,"clientAuth":null`)
			patch += one(r, "", "", `,"plaintext":"Enabled"`, `,"plaintext":null`)
		}
		patch += "}"
	}
	return naming{json.RawMessage(`{"spec":{"` + purpose + `":` + patch + `}}`)}
}

func nameSecret(ctx context.Context, w *world.World, step plan.Step, with naming) error {
	return intrude(ctx, func(ctx context.Context) error {
		mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: step.Cache}}
		return w.Client.Patch(ctx, mc, client.RawPatch(mergePatch, with.Patch))
	})
}

// content returns a Secret for a purpose, with a kind of content.
func content(w *world.World, purpose, holds string) (secret *corev1.Secret, err error) {
	secret = &corev1.Secret{Type: corev1.SecretTypeOpaque}
	secret.Annotations = map[string]string{history.Holds: holds}
	if purpose != forTLS {
		secret.Data = users(w, holds)
	} else if secret.Data, err = certificate(holds); err != nil {
		return nil, err
	}
	switch holds {
	case holdsWrongType:
		secret.Type = "helm.sh/release.v1"
	case holdsEmpty:
		secret.Data = nil
	case holdsRenamed:
		renamed := map[string][]byte{}
		for key, value := range secret.Data {
			renamed["other-"+key] = value
		}
		secret.Data = renamed
	}
	return secret, nil
}

// users returns the data of a Secret with two users. One of them has a new password each time.
func users(w *world.World, holds string) map[string][]byte {
	list := "ann:" + history.SecretMarker + "\nbob:" + newName(w, history.SecretMarker) + "\n"
	switch holds {
	case holdsMalformed:
		list = "no colon " + history.SecretMarker + "\n"
	case holdsTooMany:
		list = strings.Repeat(list, 5)
	}
	return map[string][]byte{"users": []byte(list)}
}

// soon is how long a certificate with holdsExpired is valid after it was issued.
const soon = 3 * time.Second

// certificate returns the data of a Secret with a certificate, its key, and a CA for clients.
func certificate(holds string) (map[string][]byte, error) {
	authority, err := pki.NewAuthority("faults")
	if err != nil {
		return nil, err
	}
	identity := pki.Identity{User: "cache", Hosts: []string{"cache"}}
	if holds == holdsExpired {
		identity.NotAfter = time.Now().Add(soon)
	}
	pair, err := authority.Issue(identity)
	if err != nil {
		return nil, err
	}
	switch holds {
	case holdsMalformed:
		pair.Cert = bytes.ReplaceAll(pair.Cert, []byte("A"), []byte("?"))
	case holdsTooMany:
		pair.Key = authority.Key
	}
	return map[string][]byte{
		"tls.crt": marked(pair.Cert), "tls.key": marked(pair.Key), "ca.crt": marked(authority.Cert),
	}, nil
}

// marked adds a first line with the SecretMarker to a PEM file. Readers of PEM skip this line.
func marked(pem []byte) []byte { return append([]byte(history.SecretMarker+"\n"), pem...) }
