package apply

import (
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// TestTheHashOfASecretSaysNothingAboutTheLogin: the hash is in an annotation, and some clients may see the annotations
// but not the data.
func TestTheHashOfASecretSaysNothingAboutTheLogin(t *testing.T) {
	hash := func(data map[string]string, versions string) string {
		secret := corev1ac.Secret("cache", "team").WithAnnotations(map[string]string{"versions": versions})
		for key, value := range data {
			secret.WithData(map[string][]byte{key: []byte(value)})
		}
		object := render.Object{Configuration: secret, Metadata: secret.ObjectMetaApplyConfiguration}
		if err := stamp(object); err != nil {
			t.Fatal(err)
		}
		for key, value := range data {
			if string(secret.Data[key]) != value {
				t.Errorf("%s is %q after the hash was written", key, secret.Data[key])
			}
		}
		return hashOf(object)
	}
	first := hash(map[string]string{"host": "a", "username": "ann", "password": "one"}, "1")
	if other := hash(map[string]string{"host": "a", "username": "bob", "password": "two"}, "1"); other != first {
		t.Error("the hash depends on the login")
	}
	for what, other := range map[string]string{
		"another version of the Secret": hash(map[string]string{"host": "a", "username": "ann", "password": "one"}, "2"),
		"another host":                  hash(map[string]string{"host": "b", "username": "ann", "password": "one"}, "1"),
		"no login":                      hash(map[string]string{"host": "a"}, "1"),
	} {
		if other == first {
			t.Errorf("%s has the same hash", what)
		}
	}
}
