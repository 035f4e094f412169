// Package dashboards reads the dashboards for Grafana by Grafana's published schema, and returns their queries.
package dashboards

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// Folder is the folder of the dashboards, below the root of the repository.
const Folder = "operator/config/monitoring/dashboards"

// Dashboard is what Grafana's sidecar loads.
type Dashboard = dashboard.Dashboard //nolint:staticcheck // Its successor is an object of Grafana's own API.

// Query is a query of a panel, of an annotation, or of a variable.
type Query struct {
	Of      string // the title of the panel, or the name of the annotation or of the variable
	Expr    string
	Instant bool // returns only the current values
}

// Read returns all dashboards by the names of their files. It returns an error if a dashboard has a field that the
// schema does not have.
func Read(root string) (map[string]Dashboard, error) {
	plugins.RegisterDefaultPlugins()
	files, err := filepath.Glob(filepath.Join(root, Folder, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]Dashboard{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if all[filepath.Base(file)], err = parse(content); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

func parse(content []byte) (read Dashboard, err error) {
	raw := struct {
		Panels []struct {
			FieldConfig json.RawMessage `json:"fieldConfig"`
		} `json:"panels"`
	}{}
	errs := []error{
		json.Unmarshal(content, &raw), json.Unmarshal(content, &read),
		found((&Dashboard{}).UnmarshalJSONStrict(content)),
	}
	for _, panel := range raw.Panels { // The dashboard's strict method does not check the fields of panels.
		errs = append(errs, found((&dashboard.FieldConfigSource{}).UnmarshalJSONStrict(panel.FieldConfig)))
	}
	return read, errors.Join(append(errs, read.Validate())...)
}

// found returns the error of a strict method, or nil if its list of errors is empty. Without errors, the strict methods
// return an empty list that is not nil; within a dashboard they take such a list for an error, and stop. So parse only
// checks the dashboard by the strict methods, and reads it by json.Unmarshal.
func found(err error) error {
	if list, ok := err.(cog.BuildErrors); ok && len(list) == 0 { //nolint:errorlint // The others return it as it is.
		return nil
	}
	return err
}

// Panels returns the panels of a dashboard, without its rows.
func Panels(d Dashboard) (panels []dashboard.Panel) {
	for _, panel := range d.Panels {
		if panel.Panel != nil {
			panels = append(panels, *panel.Panel)
		}
	}
	return panels
}

// Queries returns the queries of all panels and annotations.
func Queries(d Dashboard) (queries []Query) {
	for _, panel := range Panels(d) {
		for _, target := range panel.Targets {
			if query, ok := target.(*prometheus.Dataquery); ok {
				queries = append(queries, Query{*panel.Title, query.Expr, query.Instant != nil && *query.Instant})
			}
		}
	}
	for _, annotation := range d.Annotations.List {
		queries = append(queries, Query{Of: annotation.Name, Expr: *annotation.Expr})
	}
	return queries
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// VariableQueries returns a query for each variable that gets its values from Prometheus: the selector of the series
// whose label has the values.
func VariableQueries(d Dashboard) (queries []Query) {
	for _, variable := range d.Templating.List {
		if variable.Query == nil || variable.Query.String == nil {
			continue
		}
		if found := labelValues.FindStringSubmatch(*variable.Query.String); found != nil {
			queries = append(queries, Query{variable.Name, found[1], true})
		}
	}
	return queries
}

// With returns the query with values in place of its variables. Grafana itself defines the variables whose names begin
// with two underscores.
func (q Query) With(values map[string]string) string {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "$"+name, value)
	}
	return strings.NewReplacer(pairs...).Replace(q.Expr)
}
