package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Manifest is a Kubernetes object that the documentation or a sample shows.
type Manifest struct {
	Where  string // file:line
	Object *unstructured.Unstructured
}

// document is a piece of YAML and where it begins.
type document struct {
	path string
	line int
	text string
}

// Manifests finds the Kubernetes objects in the YAML blocks of all pages and in the samples. A block that has only a
// spec is the spec of a Memcached. Other blocks, such as a chart's values, need only be valid YAML.
func Manifests(root string) ([]Manifest, error) {
	pages, err := readPages(root)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, page := range pages {
		documents = append(documents, page.yamlBlocks()...)
	}
	samples, err := filepath.Glob(filepath.Join(root, "operator/config/samples/*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, sample := range samples {
		content, err := os.ReadFile(sample)
		if err != nil {
			return nil, err
		}
		path, err := filepath.Rel(root, sample)
		if err != nil {
			return nil, err
		}
		documents = append(documents, split(document{path, 1, string(content)})...)
	}
	return parse(documents)
}

// yamlBlocks are the documents in the YAML blocks of a page.
func (p page) yamlBlocks() []document {
	var documents []document
	for i, current := range p.lines {
		if !current.open {
			continue
		}
		block := document{path: p.path, line: i + 2}
		for _, next := range p.lines[i+1:] {
			if next.code != "yaml" && next.code != "yml" {
				break
			}
			block.text += next.text + "\n"
		}
		documents = append(documents, split(block)...)
	}
	return documents
}

// split splits a document at lines of three hyphens.
func split(whole document) []document {
	var documents []document
	next := document{path: whole.path, line: whole.line}
	for i, text := range strings.Split(whole.text, "\n") {
		if text == "---" {
			documents = append(documents, next)
			next = document{path: whole.path, line: whole.line + i + 1}
			continue
		}
		next.text += text + "\n"
	}
	return append(documents, next)
}

func parse(documents []document) ([]Manifest, error) {
	var manifests []Manifest
	for _, document := range documents {
		where := fmt.Sprintf("%s:%d", document.path, document.line)
		var value any
		if err := yaml.UnmarshalStrict([]byte(document.text), &value); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		content, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if content["spec"] != nil && len(content) == 1 {
			content["apiVersion"], content["kind"] = "cache.example.com/v1", "Memcached"
			content["metadata"] = map[string]any{"name": "fragment"}
		}
		if content["apiVersion"] != nil && content["kind"] != nil {
			manifests = append(manifests, Manifest{where, &unstructured.Unstructured{Object: content}})
		}
	}
	return manifests, nil
}
