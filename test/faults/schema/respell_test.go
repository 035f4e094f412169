package schema

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASpecIsRespelled(t *testing.T) {
	s := read(t)
	for name, tc := range map[string]struct {
		spec map[string]any
		want []string // must be among the spellings
		not  []string
	}{
		"a quantity": {
			map[string]any{"memory": "1Gi"},
			[]string{`"memory":"1024Mi"`, `"memory":"1048576Ki"`, `"memory":1073741824`}, nil,
		},
		"a quantity below one": {
			map[string]any{"resources": map[string]any{"requests": map[string]any{"cpu": "0.5"}}},
			[]string{`"cpu":"500m"`}, nil,
		},
		"sets": {
			map[string]any{"placement": map[string]any{"architectures": []any{"amd64", "arm64"}, "tolerations": []any{
				map[string]any{"key": "a", "operator": "Exists"}, map[string]any{"key": "b", "operator": "Exists"},
			}}},
			[]string{`["arm64","amd64"]`, `"tolerations":[{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists"}]`}, nil,
		},
		"a list with an order": {
			map[string]any{"extraArgs": []any{"-o", "modern"}}, []string{`["-o","modern"]`}, []string{`["modern","-o"]`},
		},
		"defaults": {
			map[string]any{"threads": int64(4), "maxConnections": int64(70)},
			[]string{`"rollout":{"maxSurge":1}`, `"schedulerName":"default-scheduler"`, `"maxConnections":70,`, `"agent":{}`},
			[]string{`"maxConnections":1024`, `"tls"`, `"slots"`},
		},
		"defaults of what is turned on": {
			map[string]any{"slots": map[string]any{}},
			[]string{`"slots":{"mode":"DNS"}`, `"slots":{"handoff":{}}`, `"slots":{"handoff":{"mode":"Auto"}}`}, []string{`{"memory":"64Mi"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var spellings []string
			for seed := range uint64(200) {
				respelled := s.Respell(random(seed), tc.spec)
				if refused := s.Validate(respelled); len(refused) > 0 {
					t.Fatalf("%s: %v", encoded(respelled), refused)
				}
				spellings = append(spellings, encoded(respelled))
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(spellings, contains(want)) {
					t.Errorf("never %s", want)
				}
			}
			for _, not := range tc.not {
				if slices.ContainsFunc(spellings, contains(not)) {
					t.Errorf("there is %s", not)
				}
			}
		})
	}
}

func TestTheDefaultsAreThoseOfTheComments(t *testing.T) {
	s, got := read(t), map[string]any{}
	for _, path := range []string{
		"spec.threads", "spec.memory", "spec.suspend", "spec.rollout.maxUnavailable", "spec.updatePolicy",
		"spec.image", "spec.auth.secretName", "spec.service.ipFamilyPolicy", "spec.extraArgs",
	} {
		got[path] = s.Field(path).documentedDefault()
	}
	want := map[string]any{
		"spec.memory": "64Mi", "spec.suspend": false, "spec.rollout.maxUnavailable": int64(0),
		"spec.updatePolicy": "OnSpecChange", "spec.threads": nil,
		"spec.image": nil, "spec.auth.secretName": nil, "spec.service.ipFamilyPolicy": nil, "spec.extraArgs": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}
