package mutants

import "github.com/example-inc/memcached-operator/test/faults/variants"

const (
	takesNames   = "a third party takes the names of a Memcached's objects"
	changesOwner = "a third party changes the owner of an object"

	changes   = "change.*|undo.*|unset.*|replace the whole spec|scale"
	drifts    = "a third party (edits|keeps editing) an owned field"
	recreates = "a third party recreates an object|" + takesNames
)

func ownership() []Mutant {
	return []Mutant{
		{
			Name: "adopts objects that do not allow it", Rule: "ownership", Needs: []string{recreates},
			Edits: replace(adoptFile,
				"case found.GetAnnotations()[cachev1.AnnotationAdoptBy] == mc.Name:", `case mc.Name != "":`),
		},
		{
			Name: "creates objects over unowned ones", Rule: "ownership", Needs: []string{recreates},
			Edits: replace(createFile, "	object.Metadata.WithResourceVersion(noResourceVersion)\n", ""),
		},
		{
			Name: "deletes unowned objects", Rule: "ownership", Needs: []string{changesOwner, "scale"},
			Edits: []variants.Edit{
				{
					File: removeFile,
					Old:  "!wanted[key] && !isTerminating(live, mc) && (metav1.IsControlledBy(live, mc) || mayBeOwned(live, mc)) {\n",
					New:  "!wanted[key] && live != nil {\n",
				},
				{File: removeFile, Old: " || !isOwned(live, mc) {", New: " {"},
			},
		},
		{
			Name: "deletes whatever has the name by now", Rule: "ownership",
			Needs: []string{"a third party recreates an object before a write", "scale"},
			Edits: replace(removeFile, `, client.Preconditions{
			UID: new(live.GetUID()), ResourceVersion: new(live.GetResourceVersion()),
		})`, ")"),
		},
		{
			Name: "removes annotations of other clients", Rule: "unowned fields stay",
			Needs: []string{"a third party adds a field", changes},
			Edits: []variants.Edit{
				{File: applyFile, Old: "	\"fmt\"\n", New: "	\"fmt\"\n	\"strings\"\n"},
				{
					File: applyFile, Old: "	\"k8s.io/apimachinery/pkg/runtime\"\n",
					New: "	\"k8s.io/apimachinery/pkg/runtime\"\n	\"k8s.io/apimachinery/pkg/types\"\n",
				},
				{
					File: applyFile, Old: "	hash := hashOf(object) // The answer overwrites the object.\n",
					New: `	hash := hashOf(object)
	for name := range live.GetAnnotations() {
		if !strings.Contains(name, "cache.example.com/") && !strings.Contains(name, "kubernetes.io/") {
			patch := client.RawPatch(types.MergePatchType, []byte("{\"metadata\":{\"annotations\":{\""+name+"\":null}}}"))
			_ = s.client.Patch(ctx, live.DeepCopyObject().(client.Object), patch)
		}
	}
`,
				},
			},
		},
		{
			Name: "gives up fields that another client took", Rule: "the same spec gives the same objects",
			Needs: []string{drifts},
			Edits: replace(applyFile, "append(options, client.ForceOwnership)...", "options..."),
		},
	}
}
