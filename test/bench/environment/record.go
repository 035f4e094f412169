package environment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/bench/baseline/template"
)

// The Memcached whose requests are recorded. No other text in the requests contains its name or namespace.
const (
	recordedNamespace = "bench-recorded"
	recordedName      = "recorded-cache"
)

func (e *Environment) templateFile() string { return filepath.Join(e.folders.Run, "template.json") }

// Record lets the operator reconcile one Memcached, and writes its requests to a file, for the baseline.
func (e *Environment) Record(ctx context.Context) error {
	mc, err := e.createMemcached(ctx, client.ObjectKey{Namespace: recordedNamespace, Name: recordedName})
	if err != nil {
		return err
	}
	operator, err := e.StartOperator(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(operator.Settle(ctx, time.Minute), operator.Stop()); err != nil {
		return err
	}
	logged, _, err := e.Audit.Read(0)
	if err != nil {
		return err
	}
	placeholders := strings.NewReplacer(
		recordedNamespace, template.Namespace, recordedName, template.Name, string(mc.UID), template.UID)
	var requests []template.Request
	for _, request := range logged {
		if request.Verb != "patch" || len(request.Body) == 0 || request.ObjectRef.Resource == "events" {
			continue
		}
		recorded, err := record(request)
		if err != nil {
			return err
		}
		recorded.URI, recorded.Body = placeholders.Replace(recorded.URI), placeholders.Replace(recorded.Body)
		requests = append(requests, recorded)
	}
	if want := len(Managed) + 1; len(requests) != want {
		return fmt.Errorf("the operator made %d requests for a new Memcached, want %d: %v", len(requests), want, requests)
	}
	content, err := json.Marshal(requests)
	if err != nil {
		return err
	}
	if err := os.WriteFile(e.templateFile(), content, 0o600); err != nil {
		return err
	}
	return e.Client.DeleteAllOf(ctx, Memcached.Of(0), client.InNamespace(recordedNamespace))
}

// record returns a request in a form that can be repeated for other Memcacheds. It removes the metadata of the status
// patch, whose only field is the resource version of the recorded Memcached.
func record(request audit.Request) (template.Request, error) {
	if request.ObjectRef.Subresource == "" {
		return template.Request{URI: request.URI, Type: string(types.ApplyPatchType), Body: string(request.Body)}, nil
	}
	var patch map[string]any
	if err := json.Unmarshal(request.Body, &patch); err != nil {
		return template.Request{}, err
	}
	delete(patch, "metadata")
	body, err := json.Marshal(patch)
	return template.Request{URI: request.URI, Type: string(types.MergePatchType), Body: string(body)}, err
}
