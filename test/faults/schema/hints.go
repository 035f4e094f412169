package schema

import (
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// hint has values that mean something to Kubernetes or memcached, where the schema knows only a type.
type hint struct {
	path   string // a pattern; the first one that matches a field counts
	values string // a list in YAML; repeat what is to be drawn more often
	always bool   // no other value is drawn: it would overload the cluster, or make a run last too long
}

// hints are few: a field without one gets values that follow from its schema. Most values can be scheduled on
// Nodes of 4 CPUs and 8 GiB, of the architectures amd64, arm64 and s390x; a few cannot. Some values pass the schema,
// and are refused by the operator.
var hints = compiled([]hint{
	{`^spec\.size$`, `[0, 1, 1, 2, 2, 3, 3, 4, 5]`, true},
	{`^spec\.image$`, `[registry.example.com/memcached:1, registry.example.com/memcached:2, registry.example.com/m, "Capital:"]`, false},
	{`^spec\.imagePullSecrets\[\]\.name$`, `[registry, registry-2]`, false},
	{`^spec\.memory$`, `[16Mi, 64Mi, 100Mi, 128Mi, 512Mi, 1Gi, 1073741824, 1G, 4Ti]`, false},
	{`^spec\.maxItemSize$`, `[512Ki, 1Mi, 1048576, 2Mi, 8Mi, 32Mi, 1000Ki]`, false},
	{`^spec\.extraArgs$`, `[[-v], [-v, -v], ["--extended=hash_algorithm=xxh3"], [-m, "9"]]`, false},
	{`^spec\.agent\.resources\.`, `[{memory: 64Mi}, {cpu: 100m}, {cpu: "0.5", memory: 96Mi}, {memory: 16Mi}]`, false},
	{`^spec\.resources\.`, `[{memory: 256Mi}, {memory: 1Gi}, {cpu: 100m}, {cpu: 1, memory: 512Mi}, {memory: 64Mi}, {cpu: 100}]`, false},
	{`rchitectures\[\](\.architecture)?$`, `[amd64, arm64, s390x]`, false},
	{`\.(minReadySeconds|drainSeconds)$`, `[0, 0, 1, 2, 5]`, false},
	{`\.progressDeadlineSeconds$`, `[3, 10, 600, 601]`, false},
	{`^spec\.tls\.secretName$`, `[tls, tls, tls-2]`, false},
	{`^spec\.auth\.secretName$`, `[users]`, false},
	{`\.(schedulerName)$`, `[default-scheduler, default-scheduler, batch]`, false},
	{`\.priorityClassName$`, `[system-cluster-critical, system-node-critical]`, false},
	{`\.nodeSelector$`, `[{kubernetes.io/os: linux}, {kubernetes.io/arch: amd64}, {kubernetes.io/arch: s390x}, {pool: caches}]`, false},
	{`\.tolerations\[\]$`, `[{key: caches, operator: Exists}, {key: a, value: b, effect: NoSchedule}, {operator: Exists}, {}]`, false},
	{`\.tolerations\[\]\.operator$`, `[Exists, Equal]`, false},
	{`\.effect$`, `[NoSchedule, PreferNoSchedule, NoExecute]`, false},
	{`\.topologyKey$`, `[kubernetes.io/hostname, kubernetes.io/arch, topology.kubernetes.io/zone]`, false},
	{`\.maxSkew$`, `[1, 2, 5]`, false},
	{`\.minDomains$`, `[1, 2]`, false},
	{`\.whenUnsatisfiable$`, `[ScheduleAnyway, ScheduleAnyway, DoNotSchedule]`, false},
	{`\.node(Affinity|Taints)Policy$`, `[Honor, Ignore]`, false},
	{`\.match(Expressions|Fields)\[\]\.operator$`, `[In, NotIn, Exists, DoesNotExist]`, false},
	{`\.[nN]ode.*\.matchExpressions\[\]$`, `[{key: kubernetes.io/arch, operator: In, values: [amd64, arm64, s390x]}, {key: pool, operator: DoesNotExist}]`, false},
	{`\.matchFields\[\]$`, `[{key: metadata.name, operator: NotIn, values: [none]}]`, false},
	{`\.(matchLabels|labels|annotations)$`, `[{}, {team: shop}, {team: books, tier: cache}, {example.com/team: shop}]`, false},
	{`\.([mM]atchLabelKeys)$`, `[[pod-template-hash], [team]]`, false},
	{`\.weight$`, `[1, 50, 100]`, true},
	{`\.ipFamilies$`, `[[IPv4], [IPv4], [IPv6]]`, false},
	{`\.cidr$`, `[10.0.0.0/8, 0.0.0.0/0]`, false},
	{`\.except\[\]$`, `[10.1.0.0/16]`, false},
	{`\.namespaces\[\]$`, `[default, caches]`, false},
})

type compiledHint struct {
	path   *regexp.Regexp
	values []any
	always bool
}

func compiled(hints []hint) (compiled []compiledHint) {
	for _, h := range hints {
		values := []any{}
		if err := yaml.Unmarshal([]byte(h.values), &values); err != nil {
			panic(err) // A mistake in the table above.
		}
		for i, value := range values {
			values[i] = decoded([]byte(encoded(value)))
		}
		compiled = append(compiled, compiledHint{regexp.MustCompile(h.path), values, h.always})
	}
	return compiled
}

// hint returns a value of the table: usually, or rarely where values are to follow from the schema.
func (d *draw) hint(f *Field) (any, bool) {
	for _, h := range hints {
		if !h.path.MatchString(f.Path) {
			continue
		}
		if h.always || !d.wild && d.IntN(8) > 0 {
			return copied(pick(d, h.values)), true
		}
		return nil, false
	}
	return nil, false
}

// copied allows to change a value.
func copied(value any) any { return decoded([]byte(encoded(value))) }

// isQuantity reports whether the values of a field are quantities of resources.
func (f *Field) isQuantity() bool { return f.XIntOrString && strings.Contains(f.Pattern, "[KMGTPE]i") }
