package environment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/test/bench/baseline/template"
)

// Creator creates objects like those of the operator, each by one request. No existing Memcached owns these objects.
type Creator struct {
	kube     rest.Interface
	requests []template.Request
}

// NewCreator returns a Creator that uses the requests that Record has recorded.
func (e *Environment) NewCreator() (*Creator, error) {
	content, err := os.ReadFile(e.templateFile())
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(e.config)
	if err != nil {
		return nil, err
	}
	c := &Creator{kube: kube.RESTClient()}
	return c, json.Unmarshal(content, &c.requests)
}

// Apply sends the request by which the operator applies an object of this kind, with another name.
func (c *Creator) Apply(ctx context.Context, kind Kind, name string) error {
	request, err := c.find(kind, name)
	if err != nil {
		return err
	}
	return c.kube.Patch(types.ApplyPatchType).RequestURI(request.URI).Body([]byte(request.Body)).Do(ctx).Error()
}

// Post creates the same object by a POST.
func (c *Creator) Post(ctx context.Context, kind Kind, name string) error {
	request, err := c.find(kind, name)
	if err != nil {
		return err
	}
	var object struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Metadata   map[string]any  `json:"metadata"`
		Spec       json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal([]byte(request.Body), &object); err != nil {
		return err
	}
	delete(object.Metadata, "resourceVersion") // A POST must have none.
	body, err := json.Marshal(object)
	uri, parameters, _ := strings.Cut(request.URI, "?")
	post := c.kube.Post().RequestURI(path.Dir(uri)+"?"+parameters).SetHeader("Content-Type", "application/json")
	return errors.Join(err, post.Body(body).Do(ctx).Error())
}

func (c *Creator) find(kind Kind, name string) (template.Request, error) {
	values := strings.NewReplacer(template.Name, name, template.Namespace, recordedNamespace, template.UID, "of-"+name)
	for _, request := range c.requests {
		if strings.Contains(request.URI, "/"+kind.Resource+"/") {
			request.URI, request.Body = values.Replace(request.URI), values.Replace(request.Body)
			return request, nil
		}
	}
	return template.Request{}, fmt.Errorf("the operator created no %s", kind.Kind)
}
