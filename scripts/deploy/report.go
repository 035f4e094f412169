package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// verdict is what came of one object.
type verdict struct {
	Object  string        `json:"object"`
	Action  string        `json:"action"`
	Message string        `json:"message,omitempty"`
	Fields  []fieldChange `json:"fields,omitempty"`
}

// reporter prints a line for each verdict as it falls, or one JSON document at the end.
type reporter struct {
	out     io.Writer
	asJSON  bool
	started time.Time

	verdicts []verdict
}

func newReporter(out io.Writer, format string) (*reporter, error) {
	switch format {
	case "text", "json":
		return &reporter{out: out, asJSON: format == "json", started: time.Now()}, nil
	default:
		return nil, fmt.Errorf("--output %q: text and json are possible", format)
	}
}

// add records a verdict.
func (r *reporter) add(v verdict) {
	r.verdicts = append(r.verdicts, v)
	line := v.Object + " " + v.Action
	if v.Message != "" {
		line += ": " + v.Message
	}
	r.say("%s", line)
	for _, field := range v.Fields {
		r.say("  %s", field)
	}
}

// say prints what is only of interest while it happens.
func (r *reporter) say(format string, args ...any) {
	if !r.asJSON {
		fmt.Fprintf(r.out, format+"\n", args...)
	}
}

// finish closes the report, also the report of a failure.
func (r *reporter) finish(failure error) error {
	elapsed := time.Since(r.started).Round(100 * time.Millisecond)
	if !r.asJSON {
		if failure == nil || errors.Is(failure, errDiffers) {
			r.say("%s in %s", r.summary(), elapsed)
		}
		return failure
	}
	document := struct {
		Objects []verdict `json:"objects"`
		Elapsed string    `json:"elapsed"`
		Error   string    `json:"error,omitempty"`
	}{Objects: r.verdicts, Elapsed: elapsed.String()}
	if document.Objects == nil {
		document.Objects = []verdict{} // a reader is spared the null
	}
	if failure != nil && !errors.Is(failure, errDiffers) {
		document.Error = failure.Error()
	}
	encoder := json.NewEncoder(r.out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return err
	}
	return failure
}

// summary counts the verdicts: "7 created, 1 unchanged".
func (r *reporter) summary() string {
	counts := map[string]int{}
	var order []string
	for _, v := range r.verdicts {
		if counts[v.Action] == 0 {
			order = append(order, v.Action)
		}
		counts[v.Action]++
	}
	slices.Sort(order)
	parts := make([]string, 0, len(order))
	for _, action := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[action], action))
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

// nameOf is how an object is called in everything a person reads: kind/namespace/name.
func nameOf(o *unstructured.Unstructured) string {
	return nameOfID(object.UnstructuredToObjMetadata(o))
}

func nameOfID(id object.ObjMetadata) string {
	kind := strings.ToLower(id.GroupKind.Kind)
	if id.Namespace == "" {
		return kind + "/" + id.Name
	}
	return kind + "/" + id.Namespace + "/" + id.Name
}
