package mutants

import "github.com/example-inc/memcached-operator/test/faults/variants"

func ownership() []Mutant {
	return []Mutant{
		replace("adopts objects that do not allow it", "ownership", adoptFile,
			"case found.GetAnnotations()[cachev1.AnnotationAdoptBy] == mc.Name:", `case mc.Name != "":`),
		replace("creates objects over unowned ones", "ownership", applyFile,
			"	object.Metadata.WithResourceVersion(noResourceVersion)\n", ""),
		{
			Name: "deletes unowned objects", Rule: "ownership",
			Edits: []variants.Edit{
				{
					File: removeFile,
					Old:  "		if metav1.IsControlledBy(live, mc) || mayBeOwned(live, mc) {\n",
					New:  "		if live != nil {\n",
				},
				{File: removeFile, Old: " || !isOwned(live, mc) {", New: " {"},
			},
		},
		replace("deletes what has the name by now", "ownership", removeFile, `, client.Preconditions{
			UID: new(live.GetUID()), ResourceVersion: new(live.GetResourceVersion()),
		})`, ")"),
		{
			Name: "removes annotations of other clients", Rule: "fields of others",
			Edits: []variants.Edit{
				{File: applyFile, Old: "	\"slices\"\n", New: "	\"slices\"\n	\"strings\"\n"},
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
		replace("gives up fields that another client took", "desired state", applyFile,
			"append(options, client.ForceOwnership)...", "options..."),
	}
}
