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
		with    *builds.Component // one of the components
		wantErr string
	}{
		"a real Node needs a kubelet":           {Options{}, builds.Cluster()[1], ""},
		"a simulated one needs kwok":            {Options{Simulated: true}, builds.Kwok, ""},
		"Argo CD that is requested":             {Options{ArgoCD: true}, builds.ArgoCD, ""},
		"Argo CD on simulated Nodes is refused": {Options{Simulated: true, ArgoCD: true}, nil, "needs a real Node"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			components, err := tc.options.programs()
			if tc.with == nil {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("programs() = %v, want an error with %q", err, tc.wantErr)
				}
			} else if err != nil || !slices.Contains(components, tc.with) {
				t.Errorf("programs() = %v, %v, want %v in it", components, err, tc.with)
			}
		})
	}
}

func TestUpAcceptsARunningClusterOnlyIfItFits(t *testing.T) {
	with := &Cluster{ArgoCD: true}
	tests := map[string]struct {
		options Options
		running *Cluster
		wantErr string
	}{
		"Argo CD does no harm where none is requested": {Options{}, with, ""},
		"Argo CD that is requested must run":           {Options{ArgoCD: true}, &Cluster{}, "runs already, without Argo CD"},
		"a real Node is no simulated one":              {Options{Simulated: true}, with, "runs already, with real Nodes"},
		"a simulated Node is no real one":              {Options{}, &Cluster{Simulated: true}, "runs already, with simulated Nodes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.options.accept(tc.running)
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("accept() = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
}
