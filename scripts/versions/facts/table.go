package facts

import (
	"regexp"
	"slices"
	"strings"
)

// fact is a version, and where it is.
type fact struct {
	name string
	home string
	find string // in the home; the first group is the value

	// stable is the home while the value in home is a candidate: readers are not sent to one.
	stable *place

	copies []place

	// others are values that may stand in the place of a copy, with the reason.
	others map[string]string
}

// place is where a value may be repeated.
type place struct {
	in     []string // beginnings of file names
	except []string // files whose value is one of their own
	find   string   // the first group is the value, or what part makes of it
	part   func(value string) string
}

const (
	version  = `(\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)`
	minor    = `(\d+\.\d+)`
	anything = `([^\s"/@]*)` // in a home, where it has to be a version

	// begins is what stands before a name: that of a fork, such as YOU-memcached, is another than memcached.
	begins = `(?:^|[^\w.-])`

	newTag = `\s+newTag: ` // behind an image's new name, in a kustomization

	olmReleases   = `/operator-framework/operator-lifecycle-manager/releases/download/v`
	olmV1Releases = `/operator-framework/operator-controller/releases/download/v`
)

var (
	pages     = []string{"docs/", "README.md", "CONTRIBUTING.md"}
	manifests = []string{"operator/config/", "overlays/", "gitops/operator/", "gitops/platform/", "gitops/bootstrap/"}
	everyYAML = slices.Concat(manifests, pages)
	next      = []string{"docs/releasing.md"} // tells of the version that is to be made
)

// Versions that a release writes.
const (
	Operator = "operator"
	Agent    = "agent"
)

// table lists the versions that more than one file names.
var table = []fact{
	{
		// Readers and OLM follow it. While it is a candidate, they stay at the version before.
		name: Operator, home: "Makefile", find: `(?m)^VERSION \?= (.*)$`,
		stable: &place{in: []string{"docs/install.md"}, find: `\bVERSION=` + version},
		copies: []place{
			{
				in: pages, except: next,
				find: begins + `memcached-operator(?:(?:-bundle|-catalog)?(?::v?|\.v)|` + newTag + `)` + version,
			},
			{
				in: pages, except: next,
				find: `(?:\bVERSION=|--version |[ \x60]version: |targetRevision: | tag: |` +
					begins + `memcached-operator[/-])` + version,
			},
			{in: everyYAML, find: `\b(?:version|value): ` + minor + `\.x`, part: minorOf},
		},
	},
	{
		name: "operator's image", home: "Makefile", find: `(?m)^VERSION \?= (.*)$`,
		copies: []place{{in: manifests, find: begins + `memcached-operator(?::v?|\.v)` + version}},
		others: map[string]string{"0.0.0": "a base, which gets its version when the bundle is made"},
	},
	{
		name: Agent, home: "operator/cmd/agent/VERSION", find: `^(.*)`,
		copies: []place{
			{in: everyYAML, find: begins + `memcached-agent(?::|` + newTag + `)` + version},
			{in: []string{"operator/internal/app/options.go"}, find: begins + `memcached-agent:` + version},
		},
	},
	{
		name: "memcached", home: "operator/internal/app/options.go",
		find: `DefaultMemcachedImage = "docker.io/library/memcached:` + anything,
		copies: []place{
			{in: pages, find: begins + `memcached:` + version},
			{
				in:   []string{"operator/config/", "gitops/settings/", "scripts/"},
				find: begins + `docker\.io/library/memcached:` + version,
			},
		},
		others: map[string]string{"1.6.40": "an older one, in examples of what changes"},
	},
	{
		name: "Go of the images", home: "Dockerfile", find: begins + `golang:` + anything + `@`,
		copies: []place{{in: slices.Concat(pages, []string{"Dockerfile"}), find: begins + `golang:` + version}},
	},
	{
		name: "Go at least", home: "scripts/cluster/builds/containerd/go.mod", find: `(?m)^go (.*)$`,
		copies: []place{{in: pages, find: `Go ` + version + ` or newer`}},
	},
	{
		name: "Kubernetes", home: "scripts/cluster/builds/kubernetes/go.mod", find: `k8s\.io/kubernetes v` + anything,
		copies: []place{
			{in: pages, find: `Kubernetes v?` + version},
			{in: pages, find: `tests run on ` + minor, part: minorOf},
		},
	},
	{
		name: "oldest Kubernetes", home: "operator/config/manifests/bases/memcached-operator.clusterserviceversion.yaml",
		find: `minKubeVersion: ` + anything,
		copies: []place{
			{in: pages, find: `Kubernetes ` + minor + ` (?:or newer|is OpenShift)`, part: minorOf},
		},
	},
	{
		name: "Argo CD", home: "scripts/cluster/builds/argocd/go.mod", find: `argo-cd/v3 v` + anything,
		copies: []place{
			{in: pages, find: `Argo CD v?(3\.\d+\.\d+)`},
			{in: []string{"docs/local-cluster.md", "scripts/cluster/local/options.go"}, find: `\bv?(3\.\d+\.\d+)\b`},
		},
	},
	{
		name: "OLM", home: "gitops/platform/olm/kustomization.yaml",
		find: olmReleases + anything + `/olm\.yaml`,
		copies: []place{
			{in: everyYAML, find: olmReleases + version},
			{in: pages, find: `OLM v(0\.\d+\.\d+)`},
		},
	},
	{
		name: "OLM v1", home: "gitops/platform/operator-controller/kustomization.yaml",
		find: olmV1Releases + anything,
		copies: []place{
			{in: everyYAML, find: olmV1Releases + version},
			{in: pages, find: `OLM v(1\.\d+\.\d+)`},
		},
	},
	{
		name: "argocd-operator", home: "gitops/bootstrap/argocd/operator/kustomization.yaml", find: `ref=v` + anything,
		copies: []place{{in: everyYAML, find: begins + `argocd-operator(?:\.v|\S*\?ref=v)` + version}},
	},
	{
		name: "scorecard", home: "operator/config/scorecard/config.yaml", find: begins + `scorecard-test:v` + anything,
		copies: []place{{in: everyYAML, find: begins + `scorecard-test:v` + version}},
	},
}

// minorOf is 1.36 of 1.36.3.
func minorOf(value string) string { return strings.Join(strings.SplitN(value, ".", 3)[:2], ".") }

// unread are files that people do not write: they are generated, or tell what was at some time, and have tests of their
// own.
var unread = regexp.MustCompile(`^(bundle/|test/crd/released/|docs/performance|gitops/sources\.json)|` +
	`(^|/)testdata/|_test\.go$|go\.(sum|mod)$`)
