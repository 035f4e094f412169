package local

import (
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

func TestProgramsFollowTheOptions(t *testing.T) {
	tests := map[string]struct {
		options Options
		with    *builds.Component // one of them
		wantErr string
	}{
		"a real Node needs a kubelet":             {Options{}, builds.Cluster()[1], ""},
		"a simulated one needs kwok":              {Options{Simulated: true}, builds.Kwok, ""},
		"without a version it is the default":     {Options{ArgoCD: true}, builds.ArgoCDs[0], ""},
		"an unknown version is refused":           {Options{ArgoCD: true, ArgoCDVersion: "1"}, nil, "no Argo CD 1"},
		"a version without an Argo CD is refused": {Options{ArgoCDVersion: "3.5"}, nil, "leave one of the two out"},
		"Argo CD on simulated Nodes is refused":   {Options{Simulated: true, ArgoCD: true}, nil, "needs a real Node"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			components, version, err := tc.options.programs()
			if tc.with == nil {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("programs() = %v, want an error with %q", err, tc.wantErr)
				}
			} else if err != nil || !slices.Contains(components, tc.with) || (version != "") != tc.options.ArgoCD {
				t.Errorf("programs() = %v, %q, %v, want %v in it", components, version, err, tc.with)
			}
		})
	}
}

func TestUpAcceptsARunningClusterOnlyIfItFits(t *testing.T) {
	with := &Cluster{ArgoCD: true, ArgoCDVersion: "v3.5.7"}
	tests := map[string]struct {
		options Options
		running *Cluster
		wantErr string
	}{
		"Argo CD does no harm where none is requested": {Options{}, with, ""},
		"Argo CD that is requested must run":           {Options{ArgoCD: true}, &Cluster{}, "runs without Argo CD"},
		"without a version any fits":                   {Options{ArgoCD: true}, with, ""},
		"the version that is requested fits":           {Options{ArgoCD: true, ArgoCDVersion: "3.5"}, with, ""},
		"another version doesn't": {
			Options{ArgoCD: true, ArgoCDVersion: "3.6"}, &Cluster{ArgoCD: true, ArgoCDVersion: "v3.6.1"}, "v3.6.1, not v3.5.7",
		},
		"a real Node is no simulated one": {Options{Simulated: true}, with, "runs with real Nodes"},
		"a simulated Node is no real one": {Options{}, &Cluster{Simulated: true}, "runs with simulated Nodes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.options.accept(tc.running, "v3.5.7")
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("accept() = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
}
