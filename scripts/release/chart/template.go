package chart

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// edit makes a piece of a Helm template of a part of a manifest: see edits.yaml.
type edit struct {
	Object  string `json:"object"`
	Find    string `json:"find"`
	Set     string `json:"set"`
	Add     string `json:"add"`
	Enclose string `json:"enclose"`
}

// templates returns a template for each object.
func (s *source) templates() (bundle.Files, error) {
	text, err := s.fill("edits.yaml")
	if err != nil {
		return nil, err
	}
	var edits []edit
	if err := sigsyaml.UnmarshalStrict([]byte(text), &edits); err != nil {
		return nil, fmt.Errorf("edits.yaml: %w", err)
	}
	used := make([]bool, len(edits))
	files := bundle.Files{}
	for id, object := range s.objects {
		if err := object.PipeE(yaml.SetLabel("of-the-chart", "")); err != nil { // marks where the template adds labels
			return nil, err
		}
		text, err := object.String()
		if err != nil {
			return nil, err
		}
		// Text in the object that looks like a template, such as in an alert, must stay as it is, so it is escaped.
		text = strings.ReplaceAll(text, "{{", "{{ \"{{\" }}")
		for i, e := range edits {
			if e.Object == "" || e.Object == object.GetKind() || e.Object == id {
				before := text
				text = e.apply(text)
				used[i] = used[i] || text != before
			}
		}
		name := strings.ToLower(object.GetKind()) + "-" + strings.TrimPrefix(object.GetName(), Name+"-")
		files["templates/"+name+".yaml"] = text
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("edits.yaml: the manifests have no %s %s: correct the edit", edits[i].Object, edits[i].Find)
	}
	return files, nil
}

// apply edits each place in the text of an object that matches e.Find.
func (e edit) apply(text string) string {
	if e.Find == "" { // A range may repeat the object, so each copy has a separator.
		return "{{- " + e.Enclose + " }}\n---\n" + text + "{{- end }}\n"
	}
	places := regexp.MustCompile("(?m)"+e.Find).FindAllStringSubmatchIndex(text, -1)
	for _, at := range slices.Backward(places) {
		from, to := at[len(at)-2], at[len(at)-1]
		text = text[:from] + e.edited(text[from:to]) + text[to:]
	}
	return text
}

// edited returns the piece of template that replaces the found text.
func (e edit) edited(found string) string {
	lines := slices.Collect(strings.Lines(found))
	switch {
	case e.Set != "":
		return e.Set
	case e.Add != "":
		indent := indentOf(lines[len(lines)-1])
		return found + indent + strings.ReplaceAll(e.Add, "\n", "\n"+indent) + "\n"
	}
	indent := indentOf(lines[0])
	return indent + "{{- " + e.Enclose + " }}\n" + found + indent + "{{- end }}\n"
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }
