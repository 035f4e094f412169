package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteJSON prints the report for machines.
func (r *Report) WriteJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// WriteText prints the report for people: the images, then each platform, then what they have in common.
func (r *Report) WriteText(out io.Writer) error {
	if err := r.writeImages(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := r.writePlatforms(out); err != nil {
		return err
	}
	inAll := strings.Join(r.InAll, ", ")
	switch {
	case !r.complete():
		inAll = "unknown, not every image was read"
	case inAll == "":
		inAll = "none"
	}
	_, err := fmt.Fprintln(out, "\nIn all images:", inAll)
	return err
}

func (r *Report) writeImages(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tREFERENCE\tPROMISED\tDIGEST")
	for _, image := range r.Images {
		digest := image.Digest
		if image.Error != "" {
			digest = "not read"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", image.Name, image.Reference, strings.Join(image.Promised, ","), digest)
	}
	return table.Flush()
}

func (r *Report) writePlatforms(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PLATFORM\tIN ALL\tIMAGE\tDIGEST")
	for _, platform := range r.platforms() {
		r.writePlatform(table, platform)
	}
	return table.Flush()
}

// platforms are those of any image, sorted.
func (r *Report) platforms() []string {
	all := map[string]bool{}
	for _, image := range r.Images {
		for _, manifest := range image.Platforms {
			all[manifest.Platform] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// writePlatform writes a line for each image of a platform. The first one says which.
func (r *Report) writePlatform(out io.Writer, platform string) {
	first, inAll := platform, "no"
	switch {
	case !r.complete():
		inAll = "?"
	case slices.Contains(r.InAll, platform):
		inAll = "yes"
	}
	for _, image := range r.Images {
		for _, manifest := range image.Platforms {
			if manifest.Platform == platform {
				fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", first, inAll, image.Name, manifest.Digest)
				first, inAll = "", ""
			}
		}
	}
}
