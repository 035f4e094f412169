package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/floor/template"
)

// Template lets the operator work on one Memcached, and writes what it asked for into a file, so that the floor can ask
// for the same for others. Of each child these are the fields that the operator owns then.
func (l *Lab) Template(ctx context.Context, size int32, path string) error {
	if err := l.MakeMemcacheds(ctx, 0, 1, size, func(string) {}); err != nil {
		return err
	}
	operator, err := l.StartOperator(ctx)
	if err != nil {
		return err
	}
	if err := operator.Settle(ctx, time.Minute); err != nil {
		return err
	}
	if err := operator.Stop(); err != nil {
		return err
	}
	made, err := l.readTemplate(ctx, Name(0))
	if err != nil {
		return fmt.Errorf("read what the operator made of %s: %w", Name(0), err)
	}
	if err := made.Write(path); err != nil {
		return err
	}
	return l.Empty(ctx)
}

func (l *Lab) readTemplate(ctx context.Context, key client.ObjectKey) (t template.Template, err error) {
	mc := &cachev1.Memcached{}
	if err := l.Client.Get(ctx, key, mc); err != nil {
		return t, err
	}
	t = template.Template{Name: key.Name, Namespace: key.Namespace, UID: string(mc.UID)}
	for _, child := range Children {
		applied, err := child.applied(ctx, l.Client, key)
		if err != nil {
			return t, err
		}
		path := fmt.Sprintf("/%s/namespaces/%s/%s/%s", child.api, key.Namespace, child.Resource, key.Name)
		if err := add(&t, path, types.ApplyPatchType, applied); err != nil {
			return t, err
		}
	}
	status := map[string]any{"metadata": map[string]any{"uid": mc.UID}, "status": mc.Status}
	path := fmt.Sprintf("/apis/cache.example.com/v1/namespaces/%s/memcacheds/%s/status", key.Namespace, key.Name)
	return t, add(&t, path, types.MergePatchType, status)
}

func add(t *template.Template, path string, patch types.PatchType, body any) error {
	content, err := json.Marshal(body)
	t.Requests = append(t.Requests, template.Request{Path: path, Type: string(patch), Body: string(content)})
	return err
}
