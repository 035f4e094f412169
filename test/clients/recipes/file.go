// Package recipes reads each configuration in docs/recipes with the packages of the program that uses the
// configuration.
package recipes

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Decode reads the part of a YAML file that these keys lead to. Each key must be the only key of its parent. Decode
// refuses fields that the program does not know.
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
