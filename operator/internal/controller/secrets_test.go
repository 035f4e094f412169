package controller

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// countedReads is an API server that counts the reads of its Secret.
type countedReads struct {
	client.Reader
	reads int
}

func (c *countedReads) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	c.reads++
	secret := object.(*corev1.Secret)
	secret.ResourceVersion, secret.Data = "1", map[string][]byte{"users": []byte("ann:a")}
	return nil
}

func TestASecretIsForgottenOnceItsMemcachedNamesItNoMore(t *testing.T) {
	server := &countedReads{}
	watch := &secretWatch{memory: secrets.NewMemory(server, time.Now), started: true}
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cache"}}
	mc.Spec.Auth = &cachev1.Auth{SecretName: "users"}
	without := mc.DeepCopy()
	without.Spec.Auth = nil
	for i, step := range []struct {
		mc    *cachev1.Memcached
		reads int
	}{{mc, 1}, {mc, 1}, {without, 1}, {mc, 2}} {
		if err := watch.startFor(step.mc); err != nil {
			t.Fatal(err)
		}
		watch.memory.Users(t.Context(), step.mc)
		if server.reads != step.reads {
			t.Errorf("step %d: %d reads, want %d", i, server.reads, step.reads)
		}
	}
}
