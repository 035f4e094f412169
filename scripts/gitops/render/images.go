package render

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// imageFlag is an argument that hands an image to a program, as in --acme-http01-solver-image=...
var imageFlag = regexp.MustCompile(`^--[\w-]*[iI]mage=(.+)$`)

// Images are those that the object names, wherever it does: in Pods, in a catalog, in arguments, in the environment.
func Images(fields map[string]any) []string {
	found := map[string]bool{}
	collect(fields, found)
	return slices.Sorted(maps.Keys(found))
}

func collect(value any, found map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		collectField(value, found)
	case []any:
		for _, item := range value {
			if text, isText := item.(string); isText {
				if match := imageFlag.FindStringSubmatch(text); match != nil {
					found[match[1]] = true
				}
			}
			collect(item, found)
		}
	}
}

func collectField(fields map[string]any, found map[string]bool) {
	name, _ := fields["name"].(string)
	value, _ := fields["value"].(string)
	if strings.HasPrefix(name, "RELATED_IMAGE_") && value != "" {
		found[value] = true
	}
	for key, value := range fields {
		switch key {
		case "openAPIV3Schema": // describes a field named image, and holds none
			continue
		case "image":
			if image, isText := value.(string); isText && image != "" {
				found[image] = true
			} else if reference, ok := value.(map[string]any); ok { // of a ClusterCatalog
				if ref, isText := reference["ref"].(string); isText {
					found[ref] = true
				}
			}
		}
		collect(value, found)
	}
}
