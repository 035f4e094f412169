package schema

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T) *Schema {
	t.Helper()
	s, err := Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestTheFieldsAreThoseOfTheCRD(t *testing.T) {
	s, paths := read(t), []string{}
	for _, f := range s.Fields() {
		paths = append(paths, f.Path)
	}
	for _, want := range []string{
		"spec.size", "spec.rollout", "spec.rollout.maxSurge", "spec.extraArgs[]", "spec.commonMetadata.labels{}",
		"spec.placement.preferredArchitectures[].weight", "spec.networkPolicy.from[].ipBlock.except[]",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("no field %s", want)
		}
	}
}

func TestTheSameRandomNumbersGiveTheSameValues(t *testing.T) {
	for seed := range uint64(30) {
		var drawn [2][]any
		for i := range drawn {
			s, r := read(t), random(seed)
			breaches := breaches(s)
			drawn[i] = []any{
				s.Spec(r), s.Several(r), s.Valid(r, s.Choose(r)), s.Invalid(r, breaches[r.IntN(len(breaches))]),
				s.Respell(r, s.Spec(r)),
			}
		}
		if diff := cmp.Diff(drawn[0], drawn[1]); diff != "" {
			t.Errorf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}

// unknown is a CRD for which the package has no hints.
const unknown = `
spec:
  versions:
  - name: v1
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      ratio: {type: number, minimum: 0, maximum: 9},
      since: {type: string, format: date-time},
      range: {type: string, format: cidr, maxLength: 43},
      code: {type: string, pattern: '^[A-Z]{3}-[0-9]{2,4}$', maxLength: 8},
      share: {x-kubernetes-int-or-string: true, x-kubernetes-validations: [
        {rule: 'type(self) == int && self >= 40 && self <= 44', message: 'share must be 40 to 44'}]},
      modes: {type: array, x-kubernetes-list-type: set, minItems: 1, maxItems: 2, items: {type: string, enum: [A, B]}},
      words: {type: object, maxProperties: 3, additionalProperties: {type: integer, maximum: 5}, x-kubernetes-validations: [
        {rule: '!("no" in self)', messageExpression: '"there is " + string(size(self))'}]},
      window: {type: object, required: [from], properties: {
        from: {type: integer, minimum: 1, maximum: 20}, to: {type: integer, minimum: 1, maximum: 20}},
        x-kubernetes-validations: [{rule: '!has(self.to) || self.to > self.from'}]},
      free: {type: object, x-kubernetes-preserve-unknown-fields: true},
    }}}}}
`

func TestAnUnknownFieldGetsValidAndInvalidValues(t *testing.T) {
	s, err := Parse([]byte(unknown))
	if err != nil {
		t.Fatal(err)
	}
	everyField(t, s)
}

func TestEveryFieldGetsValidAndInvalidValues(t *testing.T) { everyField(t, read(t)) }

func everyField(t *testing.T, s *Schema) {
	t.Helper()
	r := random(1)
	for _, f := range s.Fields() {
		if spec := s.Valid(r, f); !s.Set(spec)[f.Path] || len(s.Validate(spec)) > 0 {
			t.Errorf("%s: no valid value, but %v", f.Path, spec)
		}
		if spec := s.Invalid(r, OtherType(f)); f.Type != "" && len(s.Validate(spec)) == 0 {
			t.Errorf("%s: no value of another type, but %v", f.Path, spec)
		}
	}
	for _, breach := range breaches(s) {
		if spec := s.Invalid(r, breach); spec == nil || len(s.Validate(spec)) == 0 {
			t.Errorf("%s: no value %s, but %v", breach.Field.Path, breach.What, spec)
		}
	}
	for range 50 {
		if spec := s.Spec(r); len(s.Validate(spec)) > 0 {
			t.Errorf("an invalid spec %v: %v", spec, s.Validate(spec))
		}
	}
}

func TestABreachBreaksWhatItSays(t *testing.T) {
	s, says := read(t), map[string]string{
		"spec.size below the minimum":                                    "greater than or equal to 0",
		"spec.size above the maximum":                                    "less than or equal to 1000",
		"spec.updatePolicy not in the list of values":                    `supported values: "OnSpecChange", "Automatic"`,
		"spec.image too short":                                           "at least 1 chars long",
		"spec.image too long":                                            "may not be more than 512",
		"spec.tls.secretName against the pattern":                        "should match",
		"spec.placement.architectures too few items":                     "at least 1 items",
		"spec.extraArgs too many items":                                  "must have at most 64 items",
		"spec.placement.preferredArchitectures an item twice":            "Duplicate value",
		"spec.commonMetadata.labels too many entries":                    "must have at most 64 items",
		"spec.tls against rule 2":                                        "tls needs a certificate",
		"spec.tls.issuerRef without name":                                "Required value",
		"spec.rollout against rule 1":                                    "maxSurge",
		"spec.networkPolicy.from[].ipBlock without cidr":                 "Required value",
		"spec.podTemplate.metadata.labels against rule 1":                "must not contain app or memcached_cr",
		"spec.placement.topologySpreadConstraints[] without topologyKey": "Required value",
	}
	found := 0
	for _, breach := range breaches(s) {
		want := says[breach.Field.Path+" "+breach.What]
		if want == "" {
			continue
		}
		found++
		if refused := s.Validate(s.Invalid(random(7), breach)).ToAggregate(); !strings.Contains(refused.Error(), want) {
			t.Errorf("%s %s: want %q in %v", breach.Field.Path, breach.What, want, refused)
		}
	}
	if found != len(says) {
		t.Errorf("%d of %d breaches exist", found, len(says))
	}
}

func TestAMadeTextMatchesItsPattern(t *testing.T) {
	for _, pattern := range []string{
		`^a?b+c*$`, `^(x|yz)[0-9]{3,5}$`, `^[^a-z]$`, `^\d+(\.\d+)?[KMG]i$`, `^.$`, `^$`,
		`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
	} {
		d := &draw{Rand: random(1)}
		for range 100 {
			if text := d.matching(pattern); !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("%q does not match %s", text, pattern)
			}
		}
	}
}

func TestAMergePatchIsAppliedAsByTheAPIServer(t *testing.T) {
	spec := map[string]any{"size": 1, "tls": map[string]any{"secretName": "a", "clientAuth": "None"}, "memory": "1Gi"}
	patch := map[string]any{"memory": nil, "tls": map[string]any{"clientAuth": nil, "secretName": "b"},
		"rollout": map[string]any{"maxSurge": 1}, "extraArgs": []any{"-v"}}
	want := map[string]any{"size": 1, "tls": map[string]any{"secretName": "b"},
		"rollout": map[string]any{"maxSurge": 1}, "extraArgs": []any{"-v"}}
	if diff := cmp.Diff(want, Merge(spec, patch)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if len(spec) != 3 || spec["tls"].(map[string]any)["secretName"] != "a" {
		t.Errorf("the spec itself was changed: %v", spec)
	}
}

func TestUnsetLeavesOutOneFieldThatIsSet(t *testing.T) {
	s := read(t)
	spec := map[string]any{"size": int64(1), "tls": map[string]any{"secretName": "a"}, "extraArgs": []any{"-v"}}
	unset := map[string]bool{}
	for number := range 20 {
		unset[encoded(s.Unset(spec, number))] = true
	}
	for _, want := range []string{
		`{"extraArgs":["-v"],"size":1}`, `{"extraArgs":["-v"],"size":1,"tls":{}}`,
		`{"extraArgs":["-v"],"tls":{"secretName":"a"}}`, `{"size":1,"tls":{"secretName":"a"}}`,
	} {
		if !unset[want] {
			t.Errorf("never %s, but %v", want, unset)
		}
	}
	if len(unset) != 4 {
		t.Errorf("%d results, want 4: %v", len(unset), unset)
	}
}

func contains(part string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

func breaches(s *Schema) (all []Breach) {
	for _, f := range s.Bounded() {
		all = append(all, f.Breaches()...)
	}
	return all
}
