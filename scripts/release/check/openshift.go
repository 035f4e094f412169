package check

import (
	"regexp"
	"strconv"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// openShiftPattern is a version and all newer ones (v4.17), that one alone (=v4.17), or a range (v4.17-v4.19).
var openShiftPattern = regexp.MustCompile(`^(?:=?v4\.(\d+)|v4\.(\d+)-v4\.(\d+))$`)

func openShift(v *view) messages {
	told := v.annotations[bundle.OpenShiftVersions]
	matched := openShiftPattern.FindStringSubmatch(told)
	if matched == nil {
		return one(true, "%s is %q, want a form of v4.17, =v4.17 or v4.17-v4.19", bundle.OpenShiftVersions, told)
	}
	oldest, err := strconv.Atoi(matched[1] + matched[2])
	if err != nil {
		return one(true, "%s %q: %v", bundle.OpenShiftVersions, told, err)
	}
	needed, err := semver.Parse(v.csv.Spec.MinKubeVersion)
	if err != nil {
		return nil // Another rule reports it.
	}
	has := bundle.KubernetesOf(oldest)
	broken := one(uint64(has) < needed.Minor, "%s is %q: OpenShift 4.%d has Kubernetes 1.%d, spec.minKubeVersion is %s",
		bundle.OpenShiftVersions, told, oldest, has, v.csv.Spec.MinKubeVersion)
	if newest, err := strconv.Atoi(matched[3]); err == nil {
		broken.when(newest < oldest, "%s is %q: the range ends before it begins", bundle.OpenShiftVersions, told)
	}
	return broken
}
