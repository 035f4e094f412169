package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const fluxPage = "docs/flux.md"

// kustomization has the fields of a Flux Kustomization that can be checked without a cluster.
type kustomization struct {
	DependsOn        []struct{ Name string }
	SourceRef        struct{ Kind, Name string }
	Path             string
	Images           []kustomize.Image
	Patches          []kustomize.Patch
	HealthCheckExprs []kustomize.CustomHealthCheck
}

// fluxObjects are the objects on the page about Flux.
func fluxObjects(root string) ([]Manifest, error) {
	manifests, err := Manifests(root)
	if err != nil {
		return nil, err
	}
	var objects []Manifest
	for _, manifest := range manifests {
		if strings.HasPrefix(manifest.Where, fluxPage+":") {
			objects = append(objects, manifest)
		}
	}
	return objects, nil
}

// kustomizations returns the Kustomizations on the page about Flux, by file and line.
func kustomizations(root string) (map[string]kustomization, error) {
	objects, err := fluxObjects(root)
	if err != nil {
		return nil, err
	}
	found := map[string]kustomization{}
	for _, object := range objects {
		if object.Object.GetKind() != "Kustomization" {
			continue
		}
		content, err := object.Object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var parsed struct{ Spec kustomization }
		if err := json.Unmarshal(content, &parsed); err != nil {
			return nil, fmt.Errorf("%s: %w", object.Where, err)
		}
		found[object.Where] = parsed.Spec
	}
	return found, nil
}

// FluxHealth evaluates the health of a Memcached as Flux does, with the health check expressions on the page about
// Flux.
func FluxHealth(root string) (*cel.StatusEvaluator, error) {
	found, err := kustomizations(root)
	if err != nil {
		return nil, err
	}
	for _, spec := range found {
		for _, check := range spec.HealthCheckExprs {
			if check.APIVersion == cachev1.GroupVersion.String() && check.Kind == "Memcached" {
				return cel.NewStatusEvaluator(&check.HealthCheckExpressions)
			}
		}
	}
	return nil, errors.New(fluxPage + " has no health check of Memcacheds")
}
