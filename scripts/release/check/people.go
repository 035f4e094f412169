package check

import (
	"encoding/base64"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const (
	skipRange = "olm.skipRange"
	features  = "features.operators.openshift.io/"
)

var (
	capabilities = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}

	// categories are those that both the validators and the community's catalogs know.
	categories = []string{
		"AI/Machine Learning", "Application Runtime", "Big Data", "Cloud Provider", "Database", "Developer Tools",
		"Integration & Delivery", "Logging & Tracing", "Modernization & Migration", "Monitoring", "Networking",
		"OpenShift Optional", "Security", "Storage", "Streaming & Messaging",
	}

	iconTypes = []string{"image/svg+xml", "image/png", "image/jpeg", "image/gif"}

	// requiredFeatures are those that OpenShift's catalogs ask for. The others are optional.
	requiredFeatures = []string{
		"disconnected", "fips-compliant", "proxy-aware", "tls-profiles",
		"token-auth-aws", "token-auth-azure", "token-auth-gcp",
	}

	// exactCase are annotations that OLM reads in just this spelling.
	exactCase = []string{
		skipRange, "olm.operatorGroup", "olm.operatorNamespace", "olm.targetNamespaces", "olm.providedAPIs",
	}
)

// peopleRules are for what people read of the operator in a catalog.
var peopleRules = []rule[*view]{
	{"the ClusterServiceVersion is one", func(v *view) messages {
		got := v.csv.APIVersion
		return one(got != "operators.coreos.com/v1alpha1", "apiVersion is %q, want operators.coreos.com/v1alpha1", got)
	}},
	{"the name is package and version", names},
	{"the version replaces an older one", replaced},
	{"texts are neither missing nor too long", texts},
	{"there is somebody to ask", contacts},
	{"there is one icon", icon},
	{"the oldest Kubernetes is a version", func(v *view) messages {
		_, err := semver.Parse(v.csv.Spec.MinKubeVersion)
		return one(err != nil, "spec.minKubeVersion %q: %v", v.csv.Spec.MinKubeVersion, err)
	}},
	{"capabilities and categories are known ones", func(v *view) messages {
		broken := one(!slices.Contains(capabilities, v.annotation("capabilities")),
			"capabilities %q is none of %v", v.annotation("capabilities"), capabilities)
		for category := range strings.SplitSeq(v.annotation("categories"), ",") {
			category = strings.TrimSpace(category)
			broken.when(!slices.Contains(categories, category), "categories: %q is none of %v", category, categories)
		}
		return broken
	}},
	{"annotations are well-formed", annotations},
	{"features are told as OpenShift asks for them", featureAnnotations},
}

func (v *view) annotation(name string) string { return v.csv.Metadata.Annotations[name] }

func names(v *view) messages {
	name, version := v.csv.Metadata.Name, v.csv.Spec.Version
	_, err := semver.Parse(version)
	return slices.Concat(
		one(err != nil, "spec.version %q: %v", version, err),
		one(name != bundle.Name(version), "metadata.name is %q, want %q", name, bundle.Name(version)),
		one(!isName(name), "metadata.name %q can't name objects", name),
	)
}

func replaced(v *view) messages {
	replaces := v.csv.Spec.Replaces
	broken := one(replaces != "" && (!isName(replaces) || replaces == v.csv.Metadata.Name),
		"spec.replaces %q is not another version", replaces)
	text, set := v.csv.Metadata.Annotations[skipRange]
	if !set {
		return broken
	}
	matches, err := semver.ParseRange(text)
	if err != nil {
		broken.when(true, "%s %q: %v", skipRange, text, err)
		return broken
	}
	own, err := semver.Parse(v.csv.Spec.Version)
	broken.when(err == nil && matches(own), "%s %q holds the version itself, %s", skipRange, text, own)
	return broken
}

func texts(v *view) (broken messages) {
	s := v.csv.Spec
	for _, text := range []struct {
		field, value   string
		atLeast, limit int
	}{
		{"spec.displayName", s.DisplayName, 3, 50},
		{"spec.description", s.Description, 20, 1 << 16},
		{"spec.maturity", s.Maturity, 3, 20},
		{"annotation description", v.annotation("description"), 10, 134},
		{"annotation support", v.annotation("support"), 3, 100},
		{"spec.keywords", strings.Join(s.Keywords, ","), 3, 200},
	} {
		n := len(text.value)
		broken.when(n < text.atLeast || n > text.limit, "%s has %d characters, want %d to %d",
			text.field, n, text.atLeast, text.limit)
	}
	return broken
}

func contacts(v *view) messages {
	s := v.csv.Spec
	broken := slices.Concat(
		one(len(s.Provider.Name) < 3, "spec.provider.name %q is too short", s.Provider.Name),
		one(len(s.Maintainers) == 0, "spec.maintainers is empty"),
		one(len(s.Links) == 0, "spec.links is empty"),
		one(!isURL(v.annotation("repository")), "annotation repository %q is no URL", v.annotation("repository")),
	)
	for _, m := range s.Maintainers {
		_, err := mail.ParseAddress(m.Email)
		broken.when(m.Name == "" || err != nil, "spec.maintainers: %q with email %q", m.Name, m.Email)
	}
	for _, link := range s.Links {
		broken.when(link.Name == "" || !isURL(link.URL), "spec.links: %q with url %q", link.Name, link.URL)
	}
	return broken
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

func icon(v *view) messages {
	icons := v.csv.Spec.Icon
	if len(icons) != 1 {
		return one(true, "spec.icon has %d entries, want one", len(icons))
	}
	data, err := base64.StdEncoding.DecodeString(icons[0].Base64Data)
	return slices.Concat(
		one(err != nil || len(data) == 0, "spec.icon: base64data holds no picture"),
		one(!slices.Contains(iconTypes, icons[0].MediaType), "spec.icon: mediatype %q is none of %v",
			icons[0].MediaType, iconTypes),
	)
}

func annotations(v *view) messages {
	_, err := time.Parse(time.RFC3339, v.annotation("createdAt"))
	namespace := v.annotation("operatorframework.io/suggested-namespace")
	broken := slices.Concat(
		one(err != nil, "createdAt %q is no time", v.annotation("createdAt")),
		one(!isName(namespace), "operatorframework.io/suggested-namespace %q is no name", namespace),
	)
	for _, name := range slices.Sorted(maps.Keys(v.csv.Metadata.Annotations)) {
		for _, right := range exactCase {
			broken.when(name != right && strings.EqualFold(name, right), "%s is written %s", name, right)
		}
		broken.when(name == "olm.properties", "olm.properties belongs into metadata/properties.yaml")
	}
	return broken
}

func featureAnnotations(v *view) (broken messages) {
	for _, feature := range requiredFeatures {
		broken.when(v.annotation(features+feature) == "", "%s is missing", features+feature)
	}
	for name, value := range v.csv.Metadata.Annotations {
		broken.when(strings.HasPrefix(name, features) && value != "true" && value != "false",
			"%s is %q, want true or false", name, value)
	}
	slices.Sort(broken)
	return broken
}
