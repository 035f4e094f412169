package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

func TestProgramsFollowTheVersionOfArgoCD(t *testing.T) {
	tests := map[string]struct {
		argoCD      bool
		version     string
		wantPackage string // of Argo CD
		wantVersion string // how it begins
		wantErr     string
	}{
		"none is built where none is wanted":      {false, "", "", "", ""},
		"without a version it is the default":     {true, "", builds.ArgoCDs[0].Package, "v3.5.", ""},
		"a version chooses":                       {true, "3.5", builds.ArgoCDs[0].Package, "v3.5.", ""},
		"an unknown version is refused":           {true, "1", "", "", "no Argo CD 1"},
		"a version without an Argo CD is refused": {false, "3.5", "", "", "leave one of the two out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			binaries, version, err := Options{ArgoCD: tc.argoCD, ArgoCDVersion: tc.version}.programs()
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("programs() = %v, want an error with %q", err, tc.wantErr)
			}
			if !strings.HasPrefix(version, tc.wantVersion) || (version == "") != (tc.wantVersion == "") {
				t.Errorf("version = %q, want %q", version, tc.wantVersion)
			}
			var packages []string
			for _, binary := range binaries {
				if binary.Name == builds.ArgoCDs[0].Name {
					packages = append(packages, binary.Package)
				}
			}
			if diff := cmp.Diff(tc.wantPackage, strings.Join(packages, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARunningClusterIsTakenOnlyIfItIsTheOneWanted(t *testing.T) {
	with2 := &Cluster{ArgoCD: true, ArgoCDVersion: "v2.14.21"}
	with3 := &Cluster{ArgoCD: true, ArgoCDVersion: "v3.2.6"}
	tests := map[string]struct {
		options Options
		running *Cluster
		wantErr string
	}{
		"Argo CD is no harm where none is wanted": {Options{}, with3, ""},
		"one without Argo CD won't do":            {Options{ArgoCD: true}, &Cluster{}, "runs without Argo CD"},
		"without a version any will do":           {Options{ArgoCD: true}, with3, ""},
		"the version that is wanted will do":      {Options{ArgoCD: true, ArgoCDVersion: "3.2"}, with3, ""},
		"another version won't":                   {Options{ArgoCD: true, ArgoCDVersion: "3.2"}, with2, "v2.14.21, not v3.2.6"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.options.accept(tc.running, "v3.2.6")
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("accept() = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
}
