// Package recipes reads the configurations of docs/recipes with the same packages as the programs for which they are.
package recipes

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Decode reads the YAML of a file below a path of keys, each of which is the only key of its parent. It refuses a field
// that the program does not know.
func Decode(content []byte, into any, keys ...string) error {
	var value any
	if err := yaml.Unmarshal(content, &value); err != nil {
		return err
	}
	for _, key := range keys {
		parent, ok := value.(map[string]any)
		if !ok || len(parent) != 1 || parent[key] == nil {
			return fmt.Errorf("%s must be the only key at its place in the file: %v", key, value)
		}
		value = parent[key]
	}
	part, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(part))
	decoder.KnownFields(true)
	return decoder.Decode(into)
}
