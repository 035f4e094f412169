package verify

var projectMistakes = map[string]broken{
	"a project that is not there": {
		[]string{"direct"}, []edit{replace(samplesApp, "project: memcached-samples", "project: default")},
		"project", []string{samplesApp, `"default"`, "memcached-root, memcached-samples"},
	},
	"a project that nobody uses": {
		[]string{"direct"}, []edit{replace(samplesApp, "project: memcached-samples", "project: memcached-root")},
		"project", []string{project, "memcached-samples", "no Application"},
	},
	"a wildcard in the destinations": {
		[]string{"direct"}, []edit{replace(project, "namespace: memcached-samples", "namespace: memcached-*")},
		"project", []string{project, "memcached-*", "wildcard"},
	},
	"a wildcard in the kinds": {
		[]string{"direct"}, []edit{replace(project, "kind: Memcached}", `kind: "*"}`)},
		"project", []string{project, `"*"`, "wildcard"},
	},
	"a wildcard in the repositories": {
		[]string{"direct"}, []edit{replace(project, "    - from-settings", "    - from-settings\n    - https://git.acme.test/*")},
		"project", []string{project, "https://git.acme.test/*"},
	},
	"no list of kinds, which is all of them": {
		[]string{"direct"}, []edit{replace(project, `(?s)  namespaceResourceWhitelist:.*`, "")},
		"project", []string{project, "namespaceResourceWhitelist", "every kind"},
	},
	"a project that Argo CD refuses": {
		[]string{"direct"}, []edit{replace(project, `(    - \{server.*\n)`, "$1$1")},
		"project", []string{project, "invalid", "already added"},
	},
	"a project in a namespace where Argo CD does not look": {
		[]string{"direct"}, []edit{replace(settings, `(- select: \{kind: AppProject\})(\n +fieldPaths: \[metadata\.namespace\])`, "- select: {kind: Nothing}$2")},
		"project", []string{project, `namespace ""`},
	},
	"a repository that the project does not name": {
		[]string{"direct"}, []edit{
			unselect(`\[spec\.sourceRepos\.0\]`),
			replace(project, "- from-settings", "- https://git.acme.test/other.git"),
		},
		"permission", []string{"memcached-samples", "sourceRepos", project},
	},
	"a destination that the project does not name": {
		[]string{"direct"}, []edit{replace(project, "namespace: memcached-samples", "namespace: default")},
		"permission", []string{"memcached-samples", "destination", project},
	},
	"a kind that the project does not name": {
		[]string{"direct"}, []edit{replace(project, "kind: Memcached}", "kind: Redis}")},
		"permission", []string{"Memcached memcached-samples/memcached-sample", "namespaceResourceWhitelist", project},
	},
	"an operator without the right to its NetworkPolicy": {
		[]string{"direct"}, []edit{replace("gitops/bootstrap/direct/operator-project.yaml", `.*kind: NetworkPolicy}\n`, "")},
		"permission", []string{"NetworkPolicy memcached-operator-system/memcached-operator-controller-manager", "namespaceResourceWhitelist"},
	},
	"a kind of the cluster that the project does not name": {
		[]string{"direct"}, []edit{replace(project, "kind: Namespace}", "kind: Node}")},
		"permission", []string{"Namespace memcached-samples", "clusterResourceWhitelist"},
	},
	"a kind of another project's release": {
		[]string{"olm"}, []edit{replace("gitops/bootstrap/olm/olm-project.yaml", "kind: NetworkPolicy}", "kind: Ingress}")},
		"permission", []string{"operator-lifecycle-manager/releases", "NetworkPolicy olm/", "namespaceResourceWhitelist"},
	},
	"a namespace of another project's release": {
		[]string{"olm-v1"}, []edit{replace("gitops/bootstrap/olm-v1/cert-manager-project.yaml", "namespace: kube-system", "namespace: kube-public")},
		"permission", []string{"cert-manager.yaml", "kube-system/", "destinations"},
	},
	"a kind that nobody knows": {
		[]string{"direct"}, []edit{
			replace(samples, `  - namespace\.yaml`, "  - namespace.yaml\n  - widget.yaml"),
			write("gitops/samples/widget.yaml", "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w}\n"),
		},
		"scope", []string{"gitops/samples/widget.yaml", "Widget w", "example.org", "sources.json"},
	},
}
