package drift

// Finds what other clients attached to what the operator removes.

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// podPath is where the Pods of a Deployment are described.
var podPath = fieldpath.MakePathOrDie("spec", "template", "spec")

// DanglingMounts returns the JSON pointers of mounts by which other clients use volumes that the operator alone owns
// and no longer applies. Server-side apply would keep the mounts, which the API server rejects without the volume. The
// live object must have managed fields. Later list items come first, so that they can be removed one after another.
func DanglingMounts(live Object, desired any) ([]string, error) {
	actual, expected, err := contents(live, desired)
	if err != nil {
		return nil, err
	}
	entries := read(live.GetManagedFields())
	pod, _ := find(actual, podPath)
	volumes, _ := pod.field("volumes")
	var pointers []string
	for _, volume := range volumes.items([]string{"name"}) {
		author := authorOf(entries, volume.path) // another client, if it owns the volume, too: then the volume stays
		if _, stays := find(expected, volume.path); !stays && author != nil && author.isOperator() {
			pointers = append(pointers, mountsOf(volume, pod, entries)...)
		}
	}
	return lastFirst(pointers), nil
}

// mountsOf returns the mounts of a volume that the operator does not own.
func mountsOf(volume, pod place, entries []entry) []string {
	var pointers []string
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
