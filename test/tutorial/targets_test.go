package tutorial

import (
	"os/exec"
	"strings"
	"testing"
)

// TestEveryTargetOfTheOperatorSDKExists checks the make targets in the documentation of the Operator SDK and of
// kubebuilder, with the variables that are used there. It reads the commands that make would run, and does not run
// them.
func TestEveryTargetOfTheOperatorSDKExists(t *testing.T) {
	const (
		img     = "example.com/a/operator:1"
		bundle  = "example.com/a/bundle:1"
		catalog = "example.com/a/catalog:1"
	)
	tests := map[string]struct {
		variables []string
		want      []string
	}{
		"generate":  {nil, []string{"controller-gen object", "controller-gen rbac", "release renew"}},
		"manifests": {nil, []string{"controller-gen crd", "controller-gen rbac:roleName=manager-role"}},
		"install":   {nil, []string{"deploy apply operator/config/crd"}},
		"uninstall": {nil, []string{"deploy delete operator/config/crd"}},
		"run":       {nil, []string{"deploy apply operator/config/crd", "operator/cmd/manager"}},
		"deploy":    {[]string{"IMG=" + img}, []string{"deploy apply overlays/", "memcached-operator=" + img}},
		"undeploy":  {nil, []string{"deploy delete overlays/"}},
		"docker-build": {[]string{"IMG=" + img, "CONTAINER_TOOL=podman"}, []string{
			"podman build", "--tag '" + img + "'", "--target agent --tag 'example.com/a/memcached-agent:",
		}},
		"docker-push": {[]string{"IMG=" + img, "CONTAINER_TOOL=podman"}, []string{
			"podman push '" + img + "'", "podman push 'example.com/a/memcached-agent:",
		}},
		"docker-buildx": {[]string{"IMG=" + img, "CONTAINER_TOOL=podman"}, []string{
			"podman buildx build", "--push", "--tag '" + img + "'", "--target agent --tag 'example.com/a/memcached-agent:",
			"--platform 'linux/arm64,linux/amd64,linux/s390x,linux/ppc64le'",
		}},
		"bundle": {[]string{"IMG=" + img, "VERSION=1.2.3", "CHANNELS=a,b", "DEFAULT_CHANNEL=a"}, []string{
			"release bundle --version '1.2.3' --image '" + img + "' --channels 'a,b'", "--default-channel 'a'",
		}},
		"bundle-build": {[]string{"BUNDLE_IMG=" + bundle, "CONTAINER_TOOL=podman"}, []string{
			"release image bundle", "--tool podman", "--tag '" + bundle + "'",
		}},
		"bundle-push": {[]string{"BUNDLE_IMG=" + bundle, "CONTAINER_TOOL=podman"}, []string{
			"release image bundle --push", "--tool podman", "--tag '" + bundle + "'",
		}},
		"catalog-build": {[]string{"CATALOG_IMG=" + catalog, "BUNDLE_IMG=" + bundle, "CONTAINER_TOOL=podman"}, []string{
			"release catalog --bundle-image '" + bundle + "'", "release image catalog", "--tool podman", "--tag '" + catalog + "'",
		}},
		"catalog-push": {[]string{"CATALOG_IMG=" + catalog, "CONTAINER_TOOL=podman"}, []string{
			"release image catalog --push", "--tool podman", "--tag '" + catalog + "'",
		}},
	}
	for target, tc := range tests {
		t.Run(target, func(t *testing.T) {
			commands := commandsOf(t, target, tc.variables...)
			for _, want := range tc.want {
				if !strings.Contains(commands, want) {
					t.Errorf("make %s %s does not run %q, but:\n%s", target, strings.Join(tc.variables, " "), want, commands)
				}
			}
		})
	}
}

func TestThePlatformsOfDockerBuildxCanBeChosen(t *testing.T) {
	commands := commandsOf(t, "docker-buildx", "PLATFORMS=linux/s390x,linux/amd64")
	if !strings.Contains(commands, "--platform 'linux/s390x,linux/amd64'") {
		t.Errorf("PLATFORMS has no effect:\n%s", commands)
	}
}

// commandsOf returns the commands that a target would run, with single spaces.
func commandsOf(t *testing.T, target string, variables ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", append([]string{"-C", "../..", "--dry-run", target}, variables...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(string(out), "\\\n", " ")), " ")
}
