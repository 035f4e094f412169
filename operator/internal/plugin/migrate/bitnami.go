package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

var bitnami = chart{
	title: "Bitnami's chart", nameLimit: 63,
	signs: []string{
		"architecture=high-availability", "args", "auth.existingPasswordSecret", "auth.usePasswordFiles", "command",
		"containerPorts.memcached", "image.repository=bitnami", "podAntiAffinityPreset", "resourcesPreset",
		"service.ports.memcached",
	},
	arguments: bitnamiArguments,
	translate: func(r *release) {
		if common := r.spec.CommonMetadata; common != nil {
			r.set(field{"commonLabels", "podTemplate.metadata.labels"}, common.Labels)
		}
		r.setScraping()
		r.reportBitnamiImage()
		r.setSASL()
		r.setBitnamiPolicy()
	},
	servers: func(r *release) []string {
		if r.text("architecture") == "high-availability" {
			return r.podServers(r.fullName, fmt.Sprint(r.peek("containerPorts.memcached")))
		}
		return []string{r.server(r.fullName, fmt.Sprint(r.peek("service.ports.memcached")))}
	},
}

// bitnamiVariables are the environment variables that the start script of Bitnami's image makes arguments of.
var bitnamiVariables = map[string]string{"MEMCACHED_CACHE_SIZE": "-m", "MEMCACHED_MAX_CONNECTIONS": "-c",
	"MEMCACHED_THREADS": "-t", "MEMCACHED_MAX_ITEM_SIZE": "-I", "MEMCACHED_LISTEN_ADDRESS": "-l",
	"MEMCACHED_EXTRA_FLAGS": ""}

func bitnamiArguments(r *release) (all []commandLine) {
	command := slices.Concat(get[[]string](r, "command"), get[[]string](r, "args"))
	first := slices.IndexFunc(command, func(word string) bool { return strings.HasPrefix(word, "-") })
	if first < 0 {
		first = len(command)
	}
	program, words := command[:first], command[first:]
	if slices.ContainsFunc(program, isShell) {
		r.report("command and args [%s]: they start a shell; "+
			"write memcached's arguments into the manifest", strings.Join(command, " "))
		return nil
	}
	if len(program) == 0 || slices.ContainsFunc(program, isRunScript) {
		all = r.variables()
	}
	return append(all, commandLine{"args", words})
}

func isShell(word string) bool { return strings.HasSuffix(word, "sh") && !isRunScript(word) }

func isRunScript(word string) bool { return strings.HasSuffix(word, "/run.sh") }

func (r *release) variables() (all []commandLine) {
	type variable struct{ Name, Value string }
	var others []string
	for _, v := range get[[]variable](r, "extraEnvVars") {
		letter, known := bitnamiVariables[v.Name]
		words := strings.Fields(letter + " " + v.Value)
		switch {
		case known && len(words) > 0:
			all = append(all, commandLine{"extraEnvVars." + v.Name, words})
		default:
			others = append(others, v.Name)
		}
	}
	if len(others) > 0 {
		r.report("extraEnvVars [%s]: the operator's Pods have no environment variables; memcached reads none",
			strings.Join(others, " "))
	}
	return all
}

// setScraping keeps the annotations by which a Prometheus without an operator finds the metrics.
func (r *release) setScraping() {
	if r.peek("metrics.enabled") != true {
		return
	}
	texts := map[string]string{"prometheus.io/scrape": "true"}
	if annotations, given := r.at("metrics.podAnnotations").(map[string]any); given {
		texts = map[string]string{}
		for name, value := range annotations {
			texts[name] = fmt.Sprint(value)
		}
	}
	if texts["prometheus.io/scrape"] != "" {
		texts["prometheus.io/port"] = "9150" // In the chart, this value is a template.
	}
	r.set(field{"metrics.podAnnotations", "podTemplate.metadata.annotations"}, texts)
}

// reportBitnamiImage reports the image, which starts with its own script and so cannot run in the Pods of a Memcached.
func (r *release) reportBitnamiImage() {
	registry, repository := cmp.Or(r.text("global.imageRegistry"), r.text("image.registry")), r.text("image.repository")
	tag := cmp.Or(r.text("image.digest"), r.text("image.tag"))
	if registry == "docker.io" && repository == "bitnami/memcached" && tag == r.defaults["image.tag"] {
		return
	}
	r.report("image %s/%s:%s: such an image starts with a script of Bitnami; spec.image is for copies of the official "+
		"image, from 1.6.40 on with slots", registry, repository, tag)
}

// setSASL translates a login of the binary protocol to one of the text protocol.
func (r *release) setSASL() {
	if !r.on("auth.enabled") {
		return
	}
	r.at("auth")
	existing := cmp.Or(r.text("auth.existingPasswordSecret"), r.fullName)
	r.sasl = true
	r.report("auth.enabled true: SASL is a part of the binary protocol, and clients now need the login of the text "+
		"protocol (docs/clients.md). Make its Secret: kubectl -n %s create secret generic %s --from-literal=username=%s "+
		`--from-literal=password="$(kubectl -n %s get secret %s -o jsonpath='{.data.memcached-password}' | base64 -d)"`,
		r.namespace, r.setLogin(existing), r.text("auth.username"), r.options.ReleaseNamespace, existing)
}

// setBitnamiPolicy translates the NetworkPolicy, which is for memcached and for metrics.
func (r *release) setBitnamiPolicy() {
	if !r.on("networkPolicy.enabled") {
		r.at("networkPolicy")
		r.spec.NetworkPolicy = &cachev1.NetworkPolicy{Mode: cachev1.NetworkPolicyDisabled}
		return
	}
	if r.on("networkPolicy.allowExternal") {
		return
	}
	r.at("networkPolicy.allowExternal")
	r.reportPolicy()
	var from []networkingv1.NetworkPolicyPeer
	if r.on("networkPolicy.addExternalClientAccess") {
		from = append(from, peer(map[string]string{r.fullName + "-client": "true"}, nil))
	}
	r.at("networkPolicy.addExternalClientAccess")
	if pods := get[map[string]string](r, "networkPolicy.ingressPodMatchLabels"); len(pods) > 0 {
		from = append(from, peer(pods, nil))
	}
	if namespaces := get[map[string]string](r, "networkPolicy.ingressNSMatchLabels"); len(namespaces) > 0 {
		from = append(from, peer(get[map[string]string](r, "networkPolicy.ingressNSPodMatchLabels"), namespaces))
	}
	from = r.orNobody("networkPolicy.allowExternal false", from)
	r.spec.NetworkPolicy = &cachev1.NetworkPolicy{From: from, MetricsFrom: from}
}
