// Package report writes a page about a cache, for whoever was not there when it failed. It is pure.
package report

import (
	_ "embed"
	"html/template"
	"io"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

// Report is what the page shows.
type Report struct {
	Namespace, Name string
	Summary         overview.Summary

	// Taken is when the cache was read, and Version the version of the plugin that read it.
	Taken   time.Time
	Version string

	// Unread lists what could not be read, with the reasons.
	Unread []string

	Plots    []Plot
	Sections []Section
}

// Section is a part of the page: a title, and the text that a command prints.
type Section struct{ Title, Text string }

//go:embed page.html
var source string

var parsed = template.Must(template.New("page").Funcs(template.FuncMap{
	"utc": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(source))

// Write writes one HTML page that needs no other file and loads nothing.
func (r Report) Write(w io.Writer) error { return parsed.Execute(w, r) }
