package migrate

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// translated returns the Memcached and the reports for a release named sessions in the namespace team, without the
// reports that every release gets.
func translated(t *testing.T, chart, content string) (cachev1.MemcachedSpec, string, string) {
	t.Helper()
	var given map[string]any
	if err := unmarshal([]byte(content), &given); err != nil {
		t.Fatal(err)
	}
	c, err := readRelease(given, Options{Chart: chart, Release: "sessions", ReleaseNamespace: "team", ClientHash: "Ketama"})
	if err != nil {
		t.Fatal(err)
	}
	reports := strings.Join(c.reports, "\n")
	common := "spec.bootstrap: copies the keys"
	var kept []string
	for line := range strings.SplitSeq(reports, "\n") {
		if !strings.HasPrefix(line, common) {
			kept = append(kept, line)
		}
	}
	return c.spec, strings.Join(kept, "\n"), c.comment
}

func TestArgumentsAreReadAsMemcachedReadsThem(t *testing.T) {
	tests := map[string]struct {
		arguments string // words of YAML
		want      cachev1.MemcachedSpec
		reports   string
	}{
		"a value after a blank": {`[-m 1024]`, cachev1.MemcachedSpec{Memory: new(resource.MustParse("1Gi"))}, ""},
		"long names": {
			`[--memory-limit=128, --conn-limit, "4096"]`,
			cachev1.MemcachedSpec{Memory: new(resource.MustParse("128Mi")), MaxConnections: new(int32(4096))}, "",
		},
		"the last of several":       {`[-t, "8", -t, "2"]`, cachev1.MemcachedSpec{Threads: new(int32(2))}, ""},
		"the default after another": {`[-c, "2048", -c, "1024"]`, cachev1.MemcachedSpec{}, ""},
		"joined letters":            {`[-vCt8]`, cachev1.MemcachedSpec{Threads: new(int32(8)), ExtraArgs: []string{"--verbose", "--disable-cas"}}, ""},
		"bytes":                     {`[-I, "2097152"]`, cachev1.MemcachedSpec{MaxItemSize: new(resource.MustParse("2Mi"))}, ""},
		"a letter without a name":   {`["-D:"]`, cachev1.MemcachedSpec{ExtraArgs: []string{"-D:"}}, ""},
		"what the operator sets, as it sets it": {
			`[-u, memcached, -p, "11211", -U, "0", -l, 0.0.0.0, -B, auto, -o, modern]`, cachev1.MemcachedSpec{}, "",
		},
		"little memory": {
			`[-m8]`, cachev1.MemcachedSpec{Memory: new(resource.MustParse("16Mi"))},
			"config.extraArgs -m8: a Memcached has at least 16 and at most 4194304, so it is 16",
		},
		"no number": {`[-c, many]`, cachev1.MemcachedSpec{}, "config.extraArgs -cmany: not a number; correct it"},
		"no size":   {`[-I, 1g]`, cachev1.MemcachedSpec{}, "config.extraArgs -I1g: not a size; set spec.maxItemSize"},
		"another port": {
			`[-p, "11311"]`, cachev1.MemcachedSpec{}, "config.extraArgs -p11311: a Memcached has port 11211, and 11212 with TLS",
		},
		"some extended options": {
			`[-o, "ext_path=/a:1G,track_sizes,ssl_key=/a"]`, cachev1.MemcachedSpec{ExtraArgs: []string{"--extended=track_sizes"}},
			"config.extraArgs -o ext_path=/a:1G: items are in memory only; raise spec.memory or spec.size\n" +
				"config.extraArgs -o ssl_key=/a: set spec.tls",
		},
		"what memcached does not know": {
			`[-t8, --fast]`, cachev1.MemcachedSpec{Threads: new(int32(8))},
			"config.extraArgs [-t8 --fast]: not understood (unknown flag: --fast); compare it with the manifest",
		},
		"a word": {
			`[memcached, -t8]`, cachev1.MemcachedSpec{Threads: new(int32(8))},
			`config.extraArgs [memcached -t8]: not understood ("memcached" is no option); compare it with the manifest`,
		},
		"refused dumps": {
			`[-X]`, cachev1.MemcachedSpec{}, "config.extraArgs -X: memcached refuses to list its keys, so they cannot be copied until " +
				"the release runs without it: remove it from config.extraArgs. This replaces the Pods of the release, which start empty: copy the keys when these Pods are full again",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, reports, _ := translated(t, "cloudpirates", "config: {extraArgs: "+tc.arguments+"}")
			got.Bootstrap = nil // Another test is about it.
			if tc.want.Memory == nil {
				tc.want.Memory = new(resource.MustParse("64Mi"))
			}
			tc.want.Size, tc.want.Slots = new(int32(1)), &cachev1.Slots{Mode: "ClusterIP", ClientHash: "Ketama"}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.reports, reports); diff != "" {
				t.Errorf("the reports (-want +got):\n%s", diff)
			}
		})
	}
}

// TestThreadsStayUnlessTheyAreTheDefaultOfTheResources: with a limit of one CPU, the default is one thread.
func TestThreadsStayUnlessTheyAreTheDefaultOfTheResources(t *testing.T) {
	for limit, want := range map[string]*int32{"1": new(int32(4)), "4": nil} {
		got, _, _ := translated(t, "cloudpirates", `{config: {extraArgs: [-t4]}, resources: {limits: {cpu: "`+limit+`"}}}`)
		if diff := cmp.Diff(want, got.Threads); diff != "" {
			t.Errorf("a limit of %s CPUs (-want +got):\n%s", limit, diff)
		}
	}
}

// TestDefaultsOfAChartAreNotMentioned: with --all, the values of a release that sets nothing have all defaults.
func TestDefaultsOfAChartAreNotMentioned(t *testing.T) {
	for name, want := range map[string]string{
		"bitnami": "", "cloudpirates": "", "helmforge": "memcached.disableDumping -X: memcached refuses",
	} {
		defaults, err := readTable[any](name)
		if err != nil {
			t.Fatal(err)
		}
		given := map[string]any{}
		for path, value := range defaults {
			put(given, strings.Split(path, "."), value)
		}
		c, err := readRelease(maps.Clone(given), Options{Chart: name, Release: "a", ReleaseNamespace: "b", ClientHash: "Ketama"})
		if err != nil {
			t.Fatal(err)
		}
		reports := c.reports[:len(c.reports)-1] // The report on the servers comes last.
		if len(reports) > 1 || !strings.HasPrefix(strings.Join(reports, ""), want) || want == "" && len(reports) > 0 {
			t.Errorf("%s: the reports are %q, not %q", name, reports, want)
		}
		if c.spec.Size == nil || *c.spec.Size != 1 || c.spec.Memory.String() != "64Mi" {
			t.Errorf("%s: the size is %v, the memory %v", name, c.spec.Size, c.spec.Memory)
		}
		if got := guess(given); got != name {
			t.Errorf("%s is guessed to be %q", name, got)
		}
	}
}

func put(parent map[string]any, path []string, value any) {
	if len(path) == 1 || strings.Contains(path[len(path)-1], "/") {
		parent[strings.Join(path, ".")] = value
		return
	}
	below, ok := parent[path[0]].(map[string]any)
	if !ok {
		below = map[string]any{}
		parent[path[0]] = below
	}
	put(below, path[1:], value)
}

func TestServersOfTheReleaseAreItsPods(t *testing.T) {
	tests := map[string]struct{ chart, values, want, reports string }{
		"a Deployment of Bitnami": {"bitnami", "{}", "sessions-memcached.team.svc.cluster.local:11211", ""},
		"its StatefulSet in a domain, on a port": {
			"bitnami", "{architecture: high-availability, clusterDomain: example.org, containerPorts: {memcached: 11300}}",
			"sessions-memcached-0.sessions-memcached.team.svc.example.org:11300",
			"containerPorts.memcached 11300: a Memcached has port 11211, and 11212 with TLS",
		},
		"its servers with SASL": {
			"bitnami", "{auth: {enabled: true, username: shop, password: hidden}}", "",
			"auth: keys cannot be copied from servers with SASL; start with an empty cache",
		},
		"a Pod of CloudPirates": {"cloudpirates", "{fullnameOverride: shop}", "shop.team.svc.cluster.local:11211", ""},
		"its StatefulSet in another namespace": {
			"cloudpirates", "{deploymentType: StatefulSet, namespaceOverride: caches, nameOverride: shop}",
			"sessions-shop-0.sessions-shop.caches.svc.cluster.local:11211", "",
		},
		"Pods of its Deployment": {
			"cloudpirates", "{replicaCount: 2}", "", "the Pods have no names that stay",
		},
		"a StatefulSet of HelmForge with a long name": {
			"helmforge", "{memcached: {disableDumping: false}, fullnameOverride: " + strings.Repeat("a", 60) + "}",
			strings.Repeat("a", 52) + "-0." + strings.Repeat("a", 52) + "-headless.team.svc.cluster.local:11211", "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec, reports, comment := translated(t, tc.chart, tc.values)
			last := ""
			if spec.Bootstrap != nil {
				last = spec.Bootstrap.From.Servers[len(spec.Bootstrap.From.Servers)-1]
			}
			if diff := cmp.Diff(tc.want, last); diff != "" || comment != "" {
				t.Errorf("the last server (-want +got):\n%s; the comment is %q", diff, comment)
			}
			if !strings.Contains(reports, tc.reports) || strings.Contains(reports, "hidden") {
				t.Errorf("the reports are %q, not %q", reports, tc.reports)
			}
		})
	}
}

func TestValuesAreTranslated(t *testing.T) {
	tests := map[string]struct{ chart, values, manifest, reports string }{
		"a command in a shell": {
			"bitnami", "{command: [sh, -c, memcached -m 512]}", "memory: 64Mi",
			"command and args [sh -c memcached -m 512]: they start a shell",
		},
		"variables that another command ignores": {
			"bitnami", "{command: [memcached, -m, '512'], extraEnvVars: [{name: MEMCACHED_CACHE_SIZE, value: '128'}]}",
			"memory: 512Mi", "",
		},
		"flags in a variable": {
			"bitnami", "{extraEnvVars: [{name: MEMCACHED_EXTRA_FLAGS, value: -I 2m}]}", "maxItemSize: 2Mi", "",
		},
		"a template": {
			"bitnami", "{podLabels: {a: '{{ .Release.Name }}'}}", "", "podLabels: is a template of the chart",
		},
		"no budget": {"bitnami", "{pdb: {create: false}}", "", "pdb.create false: a PodDisruptionBudget exists"},
		"no policy": {"bitnami", "{networkPolicy: {enabled: false}}", "mode: Disabled", ""},
		"a policy without clients": {
			"bitnami", "{networkPolicy: {allowExternal: false, addExternalClientAccess: false}}", `sessions-client: "true"`,
			"networkPolicy.allowExternal false: the release's NetworkPolicy allows no client",
		},
		"pods that must stay": {"cloudpirates", "{replicaCount: 3, pdb: {create: true, minAvailable: 2}}", "", ""},
		"fewer pods that must stay": {
			"cloudpirates", "{replicaCount: 5, pdb: {create: true, minAvailable: 2}}", "maxUnavailable: 3", "",
		},
		"a registry of all images": {
			"cloudpirates", "{global: {imageRegistry: mirror.example.com}, image: {tag: 1.6.45}}",
			"image: mirror.example.com/memcached:1.6.45", "",
		},
		"another tag of the official image": {"cloudpirates", "{image: {tag: 1.6.44}}", "", "image.tag 1.6.44: the image is"},
		"SASL": {
			"helmforge", "{auth: {enabled: true, mode: sasl, existingSecret: a}, memcached: {protocol: binary}}",
			"secretName: sessions-users", "auth.mode sasl: SASL is a part of the binary protocol",
		},
		"an old version of TLS": {
			"helmforge", "{tls: {enabled: true, existingSecret: a, minVersion: '0', verifyMode: '1'}}", "clientAuth: Request",
			"tls.minVersion 0: the oldest version is TLS 1.2",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec, reports, _ := translated(t, tc.chart, tc.values)
			manifest, err := (&cache{name: "sessions", spec: spec}).manifest()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(manifest, tc.manifest) {
				t.Errorf("the manifest is %s, not %q", manifest, tc.manifest)
			}
			if !strings.Contains(reports, tc.reports) {
				t.Errorf("the reports are %q, not %q", reports, tc.reports)
			}
		})
	}
}

func TestAListOfInstancesIsRead(t *testing.T) {
	const list = `[{"name": "a", "nodeCount": 1}, {"name": "b", "nodeCount": 2}]`
	out, _, err := Translate([]byte(list), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if documents := strings.Split(out, "---\n"); len(documents) != 2 || !strings.Contains(documents[1], "name: b\n") {
		t.Errorf("the documents are %q", documents)
	}
}
