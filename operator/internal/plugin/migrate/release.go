package migrate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// chart is one of the Helm charts whose values are translated.
type chart struct {
	title     string
	nameLimit int // of the names of its objects

	// signs are the paths of values that no other chart has. A path with an equals sign has a value that only this
	// chart has.
	signs []string

	// arguments returns the arguments with which the chart starts memcached.
	arguments func(*release) []commandLine

	// translate translates the values that are particular to this chart.
	translate func(*release)

	// servers returns the addresses of the release's Pods; none if the addresses change when a Pod is replaced.
	servers func(*release) []string
}

var knownCharts = map[string]chart{"bitnami": bitnami, "cloudpirates": cloudPirates, "helmforge": helmForge}

// Charts are the names of the charts that are known.
var Charts = slices.Sorted(maps.Keys(knownCharts))

// release is an installed chart, as a Memcached.
type release struct {
	*cache
	values

	options  Options
	fullName string // of its Service, and of its Deployment or StatefulSet
	sasl     bool   // its servers speak only the binary protocol
	err      error
}

// guess returns the chart that has such values; empty if no chart or several charts could have them.
func guess(given map[string]any) string {
	v := values{given: given}
	var found []string
	for name, chart := range knownCharts {
		if slices.ContainsFunc(chart.signs, func(sign string) bool {
			path, want, isExact := strings.Cut(sign, "=")
			value := v.peek(path)
			return value != nil && (!isExact || strings.HasPrefix(fmt.Sprint(value), want))
		}) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

func readRelease(given map[string]any, o Options) (*cache, error) {
	guessed := o.Chart == ""
	if o.Chart = cmp.Or(o.Chart, guess(given)); o.Chart == "" {
		return nil, fmt.Errorf("the values are not recognized as those of one chart: name it by --chart, one of %q", Charts)
	}
	if o.Release == "" || o.ReleaseNamespace == "" {
		return nil, errors.New("the values do not name the release: give --release and --release-namespace, as helm " +
			"list -A shows them")
	}
	known, found := knownCharts[o.Chart]
	if !found {
		return nil, fmt.Errorf("--chart %q is unknown: write one of %q", o.Chart, Charts)
	}
	defaults, err := readTable[any](o.Chart)
	if err != nil {
		return nil, err
	}
	r := &release{options: o, values: values{given: given, defaults: defaults, used: map[string]bool{}}}
	r.fullName = r.chartName(known.nameLimit)
	r.begin()
	if guessed {
		r.report("the values look like those of %s; --chart names another one", known.title)
	}
	r.translate(known)
	if err := r.reportRest(); err != nil {
		return nil, err
	}
	return r.cache, r.err
}

// begin makes a cache whose name differs from the names of the release's objects, because both exist at the same time.
func (r *release) begin() {
	name := r.options.Release
	if name == r.fullName {
		name += "-cache"
	}
	r.cache = newCache(name, 1, resource.MustParse("64Mi"), r.options)
	r.spec.Discovery = nil // Clients of a chart have a list of servers, or one name.
	if name != r.options.Release {
		r.report("the Memcached is %s, because the release has a Service %s", name, r.fullName)
	}
	r.namespace = cmp.Or(r.options.Namespace, r.options.ReleaseNamespace)
}

// chartName returns the name of the chart's objects, which all three charts derive in this way.
func (r *release) chartName(limit int) string {
	name := r.text("fullnameOverride")
	if name == "" {
		name = r.options.Release
		if suffix := r.shortName(); !strings.Contains(name, suffix) {
			name += "-" + suffix
		}
	}
	return strings.TrimSuffix(name[:min(limit, len(name))], "-")
}

func (r *release) shortName() string { return cmp.Or(r.text("nameOverride"), "memcached") }

func (r *release) translate(known chart) {
	if text := r.text("replicaCount"); text != "" {
		size, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			r.fail("replicaCount %q: not a number of 32 bits; correct it", text)
		}
		r.spec.Size = new(int32(size))
	}
	for _, a := range known.arguments(r) {
		r.setArguments(a)
	}
	r.setResources()
	r.leaveOutDefaults()
	for _, f := range common {
		r.copy(f)
	}
	known.translate(r)
	for _, f := range copied {
		r.copy(f)
	}
	r.setServiceAccount()
	r.setOwnSelectors()
	r.setDisruption()
	r.setPullSecrets()
	r.setServers(known.servers(r))
}

// setLogin requires a login, so that a cache with a login does not become a cache without one. It returns the name of
// the Secret of the login. The user has to create this Secret, because its entries differ from those of the release's
// Secret.
func (r *release) setLogin(existing string) string {
	name := r.name + "-users"
	if name == existing {
		name = r.name + "-login"
	}
	r.spec.Auth = &cachev1.Auth{SecretName: name}
	return name
}

// leaveOutDefaults removes fields whose value is the default of a Memcached. It is called last, because later arguments
// override earlier ones, and the default of threads depends on resources.
func (r *release) leaveOutDefaults() {
	if size := r.spec.MaxItemSize; size != nil && size.Value() == mebibyte {
		r.spec.MaxItemSize = nil
	}
	if connections := r.spec.MaxConnections; connections != nil && *connections == 1024 {
		r.spec.MaxConnections = nil
	}
	without := r.spec
	without.Threads = nil
	if threads := r.spec.Threads; threads != nil && *threads == plan.Threads(without) {
		r.spec.Threads = nil
	}
}

// get reads a value as a type of Kubernetes' API.
func get[T any](r *release, path string) (result T) {
	content, err := json.Marshal(r.at(path))
	if err == nil && bytes.Contains(content, []byte("{{")) {
		r.report("%s: is a template of the chart; write its result into the manifest", path)
		return result
	}
	if err == nil {
		err = json.Unmarshal(content, &result)
	}
	if err != nil {
		r.fail("%s: %w", path, err)
	}
	return result
}

// fail keeps the first error.
func (r *release) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// reportRest reports the values that were not translated, by path.
func (r *release) reportRest() error {
	instead, err := readTable[string]("instead")
	if err != nil {
		return err
	}
	rest := r.rest()
	paths := map[string][]string{} // by the text that says what to do about them
	for _, path := range slices.Sorted(maps.Keys(rest)) {
		advice, known := longest(instead, path)
		if !known {
			advice = "not known to this command; see docs/migrating.md"
		}
		paths[advice] = append(paths[advice], path+" "+short(path, rest[path]))
	}
	delete(paths, "")
	for _, advice := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int {
		return strings.Compare(paths[a][0], paths[b][0])
	}) {
		r.report("%s: %s", strings.Join(paths[advice], ", "), advice)
	}
	return nil
}

func (r *release) setPullSecrets() {
	seen := map[string]bool{}
	for _, path := range []string{"global.imagePullSecrets", "image.pullSecrets", "imagePullSecrets"} {
		for _, item := range get[[]any](r, path) {
			name := fmt.Sprint(item)
			if object, ok := item.(map[string]any); ok {
				name = fmt.Sprint(object["name"])
			}
			if !seen[name] {
				seen[name] = true
				r.spec.ImagePullSecrets = append(r.spec.ImagePullSecrets, cachev1.LocalObjectReference{Name: name})
			}
		}
	}
	if policy := r.peek("image.pullPolicy"); policy != r.defaults["image.pullPolicy"] {
		r.spec.ImagePullPolicy = cachev1.ImagePullPolicy(r.text("image.pullPolicy"))
	}
}
