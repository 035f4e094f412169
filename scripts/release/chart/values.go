package chart

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// value is one that users of the chart may set, as values.yaml has it.
type value struct{ path, about, fallback string }

// values are those of values.yaml: keys with a comment.
func (s *source) values() ([]value, error) {
	text, err := s.fill("files/values.yaml")
	if err != nil {
		return nil, err
	}
	root, err := yaml.Parse(text)
	if err != nil {
		return nil, err
	}
	return valuesBelow(root.YNode(), "")
}

func valuesBelow(node *yaml.Node, path string) (all []value, err error) {
	for i := 0; i < len(node.Content); i += 2 {
		key, content := node.Content[i], node.Content[i+1]
		if key.HeadComment == "" {
			below, err := valuesBelow(content, path+key.Value+".")
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
			continue
		}
		fallback, err := inline(content)
		if err != nil {
			return nil, err
		}
		about := strings.ReplaceAll(strings.TrimPrefix(key.HeadComment, "# "), "\n# ", " ")
		all = append(all, value{path + key.Value, about, fallback})
	}
	return all, nil
}

// schema is values.schema.json: schema.yaml, with the comment of each value as its description.
func (s *source) schema() (string, error) {
	text, err := data.ReadFile("schema.yaml")
	if err != nil {
		return "", err
	}
	root := map[string]any{}
	if err := sigsyaml.Unmarshal(text, &root); err != nil {
		return "", err
	}
	values, err := s.values()
	if err != nil {
		return "", err
	}
	for _, v := range values {
		at := root
		for part := range strings.SplitSeq(v.path, ".") {
			properties, _ := at["properties"].(map[string]any)
			if at, _ = properties[part].(map[string]any); at == nil {
				return "", fmt.Errorf("schema.yaml has no %s, which files/values.yaml has: add it", v.path)
			}
		}
		at["description"] = v.about
	}
	indented, err := json.MarshalIndent(root, "", "  ")
	return string(indented) + "\n", err
}

// Table is the values in Markdown.
func (s *source) Table() (string, error) {
	values, err := s.values()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("| value | default | meaning |\n| --- | --- | --- |\n")
	for _, v := range values {
		if strings.HasSuffix(v.path, ".repository") && s.Version == "" {
			v.fallback = ""
		}
		if v.fallback != "" {
			v.fallback = "`" + v.fallback + "`"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", v.path, v.fallback, v.about)
	}
	return text.String(), nil
}

// Table is the values in Markdown, without defaults that change with each release.
func Table(root string) (string, error) {
	s, err := readSource(root, Options{})
	if err != nil {
		return "", err
	}
	return s.Table()
}
