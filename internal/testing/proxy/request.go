package proxy

import (
	"net/http"
	"strings"
)

// Request is a request of the operator.
type Request struct {
	Verb        string // get, list, watch, create, update, patch or delete
	Resource    string // in plural; empty for discovery
	Subresource string
	Name        string
	Query       string // its parameters
}

var verbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// describe reads a path like /apis/apps/v1/namespaces/seed-1/deployments/a/status.
func describe(r *http.Request) Request {
	request := Request{Verb: verbs[r.Method], Query: r.URL.RawQuery}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	prefix := 3 // apis, group, version
	if parts[0] == "api" {
		prefix = 2
	}
	parts = parts[min(prefix, len(parts)):]
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	for i, field := range []*string{&request.Resource, &request.Name, &request.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	if request.Verb != "" {
		return request
	}
	switch watch := r.URL.Query().Get("watch"); {
	case watch == "true" || watch == "1":
		request.Verb = "watch"
	case request.Name == "" && request.Resource != "":
		request.Verb = "list"
	default:
		request.Verb = "get"
	}
	return request
}

// Writes reports whether the request changes anything.
func (r Request) Writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete":
		return true
	}
	return false
}

// IsWrite reports whether the request changes anything except events and leases, which are no part of the operator's
// work.
func (r Request) IsWrite() bool {
	return r.Writes() && r.Resource != "events" && r.Resource != "leases"
}

// Class is a set of requests.
type Class struct {
	Name     string
	Contains func(Request) bool
}

// Classes returns the sets of requests. For each fault, a campaign draws one of these sets. The operator sends requests
// of each set.
func Classes() []Class {
	classes := []Class{
		{"all", func(r Request) bool { return r.Verb != "watch" }},
		{"reads", func(r Request) bool { return r.Verb == "get" || r.Verb == "list" }},
		{"writes", Request.IsWrite},
		{"writes of the status", func(r Request) bool { return r.IsWrite() && r.Subresource == "status" }},
		{"deletions", func(r Request) bool { return r.Verb == "delete" }},
		{"events", func(r Request) bool { return r.Resource == "events" }},
		{"starts of watches", func(r Request) bool { return r.Verb == "watch" }},
	}
	for _, resource := range []string{
		"memcacheds", "deployments", "services", "networkpolicies", "poddisruptionbudgets", "secrets",
	} {
		classes = append(classes, Class{resource, func(r Request) bool {
			return r.Resource == resource && r.Verb != "watch"
		}})
	}
	return classes
}

// Named returns the function that reports whether the class with this name contains a request. Without such a class,
// the function always returns false.
func Named(name string) func(Request) bool {
	for _, class := range Classes() {
		if class.Name == name {
			return class.Contains
		}
	}
	return func(Request) bool { return false }
}

// Watches returns the function that reports whether a request is a watch of a resource, or any watch if the resource is
// empty.
func Watches(resource string) func(Request) bool {
	return func(r Request) bool { return r.Verb == "watch" && (resource == "" || r.Resource == resource) }
}
