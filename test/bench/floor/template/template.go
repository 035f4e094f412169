// Package template holds the requests of one Memcached, so that they can be made for others.
package template

import (
	"encoding/json"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldOwner is the operator's.
const FieldOwner = "memcached-operator"

// Template is what the operator asked for on behalf of one Memcached.
type Template struct {
	// Name, Namespace and UID are those of the Memcached, and stand for those of others. No other text in the requests
	// is like them.
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	UID       string   `json:"uid"`
	Requests  Requests `json:"requests"`
}

// Requests are patches.
type Requests []Request

// Request is a patch.
type Request struct {
	Path string `json:"path"`
	Type string `json:"type"` // media type
	Body string `json:"body"`
}

// For returns the requests for another Memcached.
func (t Template) For(mc metav1.PartialObjectMetadata) Requests {
	other := strings.NewReplacer(t.Name, mc.Name, t.Namespace, mc.Namespace, t.UID, string(mc.UID))
	requests := make(Requests, len(t.Requests))
	for i, request := range t.Requests {
		requests[i] = Request{Path: other.Replace(request.Path), Type: request.Type, Body: other.Replace(request.Body)}
	}
	return requests
}

// Read reads a template from a file.
func Read(path string) (t Template, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(content, &t)
}

// Write writes it.
func (t Template) Write(path string) error {
	content, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
