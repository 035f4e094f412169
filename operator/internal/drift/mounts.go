package drift

// Finds fields that other clients attached to fields which the operator removes.

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// podPath is the path of the PodSpec in a Deployment.
var podPath = fieldpath.MakePathOrDie("spec", "template", "spec")

// Attached is a field that another client attached to a field which the operator removes.
type Attached struct {
	Path    string // in the form of managed fields
	Pointer string // a JSON pointer
}

// DanglingMounts returns the mounts of other clients for volumes that only the operator owns, and no longer applies.
// Server-side apply would keep the mounts, which the API server rejects without the volume. The live object must have
// managed fields. Later list items come first, so that they can be removed one after another.
func DanglingMounts(live Object, desired any) ([]Attached, error) {
	actual, expected, err := contents(live, desired)
	if err != nil {
		return nil, err
	}
	entries := read(live.GetManagedFields())
	pod, _ := find(actual, podPath)
	volumes, _ := pod.field("volumes")
	var mounts []Attached
	for _, volume := range volumes.items([]string{"name"}) {
		author := authorOf(entries, volume.path) // if another client also owns the volume, the volume stays
		if _, stays := find(expected, volume.path); !stays && author != nil && author.isOperator() {
			mounts = append(mounts, mountsOf(volume, pod, entries)...)
		}
	}
	slices.SortFunc(mounts, func(a, b Attached) int { return byLast(a.Pointer, b.Pointer) })
	return mounts, nil
}

// mountsOf returns the mounts of a volume that the operator does not own.
func mountsOf(volume, pod place, entries []entry) []Attached {
	var attached []Attached
	name, _ := volume.field("name")
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := pod.field(list)
		for _, container := range containers.items([]string{"name"}) {
			mounts, _ := container.field("volumeMounts")
			for _, mount := range mounts.items([]string{"mountPath"}) {
				author := authorOf(entries, mount.path)
				if its, _ := mount.field("name"); its.value == name.value && (author == nil || !author.isOperator()) {
					attached = append(attached, Attached{mount.path.String(), mount.pointer})
				}
			}
		}
	}
	return attached
}
