// Package recipes reads the configurations of docs/recipes with the packages by which the programs read them.
package recipes

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Decode reads the YAML below some keys of a file, each of which is the only one of its parent, and refuses a field
// that the program does not know.
func Decode(content []byte, into any, keys ...string) error {
	var value any
	if err := yaml.Unmarshal(content, &value); err != nil {
		return err
	}
	for _, key := range keys {
		parent, ok := value.(map[string]any)
		if !ok || len(parent) != 1 || parent[key] == nil {
			return fmt.Errorf("the file has not %s alone: %v", key, value)
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
