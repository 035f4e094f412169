package drift

// Finds what other clients attached to what the operator removes.

import (
	"cmp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Where the Pods of a Deployment are described.
var (
	podPath    = fieldpath.MakePathOrDie("spec", "template", "spec")
	volumePath = fieldpath.MakePathOrDie("spec", "template", "spec", "volumes")
)

// DanglingMounts returns the JSON pointers of mounts by which other clients use volumes that the operator owns and no
// longer applies. Server-side apply would keep the mounts, which the API server rejects without the volume. The live
// object must have managed fields. Later list items come first, so that they can be removed one after another.
func DanglingMounts(live Object, desired any) ([]string, error) {
	actual, expected, err := contents(live, desired)
	if err != nil {
		return nil, err
	}
	entries := read(live.GetManagedFields())
	volumes, _ := find(actual, volumePath)
	var pointers []string
	for _, volume := range volumes.items([]string{"name"}) {
		if _, stays := find(expected, volume.path); !stays && Owns(live, volume.path) {
			pointers = append(pointers, mountsOf(volume, actual, entries)...)
		}
	}
	return lastFirst(pointers), nil
}

// mountsOf returns the mounts of a volume that the operator does not own.
func mountsOf(volume place, actual map[string]any, entries []entry) []string {
	var pointers []string
	pod, _ := find(actual, podPath)
	name, _ := volume.field("name")
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := pod.field(list)
		for _, container := range containers.items([]string{"name"}) {
			mounts, _ := container.field("volumeMounts")
			for _, mount := range mounts.items([]string{"mountPath"}) {
				author := authorOf(entries, mount.path)
				if its, _ := mount.field("name"); its.value == name.value && (author == nil || !author.isOperator()) {
					pointers = append(pointers, mount.pointer)
				}
			}
		}
	}
	return pointers
}

// lastFirst sorts JSON pointers so that later list items come first.
func lastFirst(pointers []string) []string {
	slices.SortFunc(pointers, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(b, a)) // /ports/10 before /ports/9
	})
	return pointers
}
