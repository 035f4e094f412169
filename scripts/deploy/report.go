package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// result is the outcome for one object.
type result struct {
	Object  string        `json:"object"`
	Action  string        `json:"action"`
	Message string        `json:"message,omitempty"`
	Fields  []fieldChange `json:"fields,omitempty"`
}

// fieldChange is a field that an apply would change. A value is nil if the field does not exist.
type fieldChange struct {
	Path string `json:"path"` // a JSON pointer
	From any    `json:"from"`
	To   any    `json:"to"`
}

// report prints a line for each result as it arrives, or one JSON document at the end.
type report struct {
	out     io.Writer
	asJSON  bool
	started time.Time
	results []result
}

func newReport(out io.Writer, format string) (*report, error) {
	if format != "text" && format != "json" {
		return nil, fmt.Errorf("--output %q: text and json are possible", format)
	}
	return &report{out: out, asJSON: format == "json", started: time.Now(), results: []result{}}, nil
}

func (r *report) add(found result) {
	r.results = append(r.results, found)
	r.print("%s", strings.TrimSuffix(found.Object+" "+found.Action+": "+found.Message, ": "))
	for _, field := range found.Fields {
		from, _ := json.Marshal(field.From)
		to, _ := json.Marshal(field.To)
		r.print("  %s: %.120s -> %.120s", field.Path, from, to)
	}
}

// print prints a line of the text format.
func (r *report) print(format string, args ...any) {
	if !r.asJSON {
		fmt.Fprintf(r.out, format+"\n", args...)
	}
}

// finish prints the last line, or the document, also of a failure.
func (r *report) finish(failure error) error {
	elapsed := time.Since(r.started).Round(100 * time.Millisecond).String()
	message := ""
	if failure != nil && !errors.Is(failure, errDiffers) {
		message = failure.Error()
	} else {
		r.print("%d objects in %s", len(r.results), elapsed)
	}
	if !r.asJSON {
		return failure
	}
	encoder := json.NewEncoder(r.out)
	encoder.SetIndent("", "  ")
	return errors.Join(failure, encoder.Encode(struct {
		Objects []result `json:"objects"`
		Elapsed string   `json:"elapsed"`
		Error   string   `json:"error,omitempty"`
	}{r.results, elapsed, message}))
}
