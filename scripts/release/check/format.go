package check

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const (
	prefix         = "operators.operatorframework.io."
	mediaType      = prefix + "bundle.mediatype.v1"
	channelsKey    = prefix + "bundle.channels.v1"
	packageKey     = prefix + "bundle.package.v1"
	defaultChannel = prefix + "bundle.channel.default.v1"
	scorecardKey   = prefix + "test.config.v1"

	// most is what OLM takes of a bundle's manifests, compressed. We warn ourselves long before.
	most = 1 << 20 * 85 / 100
)

// allowed are the kinds that a bundle may hold and that every cluster knows. OLM would also take some of the
// Prometheus operator, of OpenShift's console and the vertical autoscaler: where those are not installed, the
// installation of the bundle fails. It takes NetworkPolicies too, but the community's catalogs do not.
var allowed = []string{
	"ConfigMap", "ClusterRole", "ClusterRoleBinding", "PodDisruptionBudget", "PriorityClass", "Role", "RoleBinding",
	"Secret", "Service", "ServiceAccount",
}

var bundleRules = slices.Concat(formatRules, peopleRules, apiRules, installRules, imageRules)

var formatRules = []rule[*view]{
	{"the annotations say what the bundle is", requiredAnnotations},
	{"the image's labels are the annotations", func(v *view) messages {
		return one(!maps.Equal(v.labels, v.annotations), "bundle.Dockerfile has %v, metadata/annotations.yaml has %v",
			onlyIn(v.labels, v.annotations), onlyIn(v.annotations, v.labels))
	}},
	{"channels have names that tell how far to trust them", channelNames},
	{"OpenShift's catalogs are those with the Kubernetes that is needed", openShift},
	{"the scorecard's configuration is where the annotations say", func(v *view) messages {
		file := v.annotations[scorecardKey] + "config.yaml"
		return one(v.files[file] == "", "%s is missing: %s names it", file, scorecardKey)
	}},
	{"manifests are of kinds that every cluster has", func(v *view) (broken messages) {
		for _, o := range v.others {
			broken.when(!slices.Contains(allowed, o.Kind), "%s: a %s has no place in a bundle", o.file, o.Kind)
		}
		return broken
	}},
	{"manifests name no namespace", func(v *view) (broken messages) {
		for _, o := range v.others {
			broken.when(o.Metadata.Namespace != "", "%s: metadata.namespace is %q: OLM sets it",
				o.file, o.Metadata.Namespace)
		}
		return broken
	}},
	{"service accounts are left to OLM", func(v *view) (broken messages) {
		for _, o := range v.others {
			broken.when(o.Kind == "ServiceAccount" && v.hasAccount(o.Metadata.Name),
				"%s: OLM makes the ServiceAccount %s of the ClusterServiceVersion", o.file, o.Metadata.Name)
		}
		return broken
	}},
	{"the bundle needs no other operator", func(v *view) (broken messages) {
		for _, file := range []string{"metadata/dependencies.yaml", "metadata/properties.yaml"} {
			for _, kind := range []string{"olm.gvk", "olm.package", "olm.constraint"} {
				broken.when(strings.Contains(v.files[file], kind), "%s: OLM v1 refuses %s", file, kind)
			}
		}
		return broken
	}},
	{"the bundle is small enough", func(v *view) messages {
		size := compressed(v.files)
		return one(size > most, "manifests/ has %d bytes, compressed: OLM takes no more than 1 MiB", size)
	}},
}

func requiredAnnotations(v *view) (broken messages) {
	fixed := map[string]string{
		mediaType:                      "registry+v1",
		prefix + "bundle.manifests.v1": "manifests/",
		prefix + "bundle.metadata.v1":  "metadata/",
		packageKey:                     bundle.Package,
		prefix + "test.mediatype.v1":   "scorecard+v1",
	}
	for _, key := range slices.Sorted(maps.Keys(fixed)) {
		got := v.annotations[key]
		broken.when(got != fixed[key], "%s is %q, want %q", key, got, fixed[key])
	}
	for _, key := range []string{channelsKey, defaultChannel} {
		broken.when(v.annotations[key] == "", "%s is empty", key)
	}
	return broken
}

var channelPattern = regexp.MustCompile(`^(candidate|fast|stable)(-[a-z0-9.]+)?$`)

func channelNames(v *view) (broken messages) {
	for channel := range strings.SplitSeq(v.annotations[channelsKey]+","+v.annotations[defaultChannel], ",") {
		broken.when(channel != "" && !channelPattern.MatchString(channel),
			"%q does not begin with candidate, fast or stable", channel)
	}
	return broken
}

// onlyIn lists what the first map has and the second has not.
func onlyIn(a, b map[string]string) []string {
	only := []string{}
	for key, value := range a {
		if b[key] != value {
			only = append(only, fmt.Sprintf("%s=%s", key, value))
		}
	}
	slices.Sort(only)
	return only
}

func (v *view) hasAccount(name string) bool {
	s := v.csv.Spec.Install.Spec
	return slices.ContainsFunc(slices.Concat(s.Permissions, s.ClusterPermissions), func(p permission) bool {
		return p.ServiceAccountName == name
	})
}

func compressed(files bundle.Files) int {
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(file, "manifests/") {
			_, _ = writer.Write([]byte(files[file])) // A buffer takes everything.
		}
	}
	_ = writer.Close()
	return buffer.Len()
}

// isName tells whether OLM can make objects and labels of a name.
func isName(name string) bool {
	return len(validation.IsDNS1123Subdomain(name)) == 0 && len(validation.IsValidLabelValue(name)) == 0
}
