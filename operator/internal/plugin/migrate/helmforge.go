package migrate

import (
	"cmp"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

var helmForge = chart{
	title: "HelmForge's chart", nameLimit: 52,
	signs: []string{"architecture=distributed", "auth.authFileKey", "auth.sasl", "extraManifests", "extstore",
		"headlessService", "memcached.disableDumping", "memcached.extendedOptions", "memcached.extraArgs",
		"memcached.maxConnections", "memcached.maxItemSize", "memcached.memoryLimitMB", "memcached.threads",
		"tls.existingSecret"},
	arguments: helmForgeArguments,
	translate: func(r *release) {
		r.setOfficialImage()
		r.copy(field{"headlessService.annotations", "service.metadata.annotations"}) // A Memcached has one Service.
		r.setTLS()
		r.setUsers()
		r.setHelmForgePolicy()
	},
	servers: func(r *release) []string { return r.podServers(r.fullName+"-headless", r.text("service.port")) },
}

func helmForgeArguments(r *release) []commandLine {
	r.at("architecture") // It has the same meaning as replicaCount.
	value := func(path, letter string) commandLine { return commandLine{path, withValue(letter, r.text(path))} }
	set := func(path, letter string) commandLine { return commandLine{path, alone(letter, r.on(path))} }
	return []commandLine{
		value("memcached.memoryLimitMB", "-m"), value("memcached.maxConnections", "-c"),
		value("memcached.threads", "-t"), value("memcached.maxItemSize", "-I"), value("memcached.protocol", "-B"),
		value("memcached.listenAddress", "-l"), value("memcached.udpPort", "-U"),
		set("memcached.disableFlushAll", "-F"), set("memcached.disableEvictions", "-M"),
		set("memcached.disableCas", "-C"), set("memcached.disableWatch", "-W"), set("memcached.disableDumping", "-X"),
		{"memcached.verbosity", strings.Fields(r.text("memcached.verbosity"))},
		{"memcached.extendedOptions", withValue("-o", strings.Join(get[[]string](r, "memcached.extendedOptions"), ","))},
		{"memcached.extraArgs", get[[]string](r, "memcached.extraArgs")},
	}
}

// setTLS translates TLS. The numbers in the values are those of memcached's options ssl_verify_mode and
// ssl_min_version.
func (r *release) setTLS() {
	if !r.on("tls.enabled") {
		return
	}
	tls := &cachev1.TLS{SecretName: r.text("tls.existingSecret"), ClientAuth: map[string]cachev1.ClientAuth{
		"1": cachev1.ClientAuthRequest, "2": cachev1.ClientAuthRequire, "3": cachev1.ClientAuthRequire,
	}[r.text("tls.verifyMode")]}
	switch minimum := r.text("tls.minVersion"); minimum {
	case "3":
		tls.MinVersion = cachev1.VersionTLS13
	case "0", "1":
		r.report("tls.minVersion %s: the oldest version is TLS 1.2", minimum)
	}
	r.spec.TLS = tls
	for _, entry := range []struct{ path, name string }{
		{"tls.certKey", "tls.crt"}, {"tls.keyKey", "tls.key"}, {"tls.caKey", "ca.crt"},
	} {
		if name := r.text(entry.path); name != "" && name != entry.name {
			r.report("%s %s: give the Secret %s this entry as %s, too", entry.path, name, tls.SecretName, entry.name)
		}
	}
	r.report("tls.existingSecret %s: clients use port 11212 with TLS, and the certificate needs the DNS names "+
		"of the Memcached and of its slots (docs/memcached/network.md#tls)", tls.SecretName)
}

// setUsers translates the login. In the chart's Secret, the entry with the lines of users has another name than in the
// Secret of a Memcached.
func (r *release) setUsers() {
	if !r.on("auth.enabled") {
		return
	}
	r.at("auth")
	existing := cmp.Or(r.text("auth.existingSecret"), r.fullName+"-auth")
	name := r.setLogin(existing)
	if r.text("auth.mode") == "sasl" {
		r.sasl = true
		r.report("auth.mode sasl: SASL is a part of the binary protocol, and the passwords can't be read from its "+
			"database. Clients need "+
			"the login of the text protocol (docs/clients.md); make the Secret %s with username and password", name)
		return
	}
	r.report("auth.enabled true: make the Secret of the users: kubectl -n %s get secret %s -o jsonpath='{.data.%s}' | "+
		"base64 -d | kubectl -n %s create secret generic %s --from-file=users=/dev/stdin", r.options.ReleaseNamespace,
		existing, strings.ReplaceAll(r.text("auth.authFileKey"), ".", `\.`), r.namespace, name)
}

// setHelmForgePolicy translates the NetworkPolicy. If the chart's NetworkPolicy is not enabled, all clients are
// allowed, as with the default NetworkPolicy of a Memcached.
func (r *release) setHelmForgePolicy() {
	if !r.on("networkPolicy.enabled") {
		return
	}
	r.reportPolicy()
	r.spec.NetworkPolicy = &cachev1.NetworkPolicy{From: r.peers("networkPolicy.ingress")}
	if r.on("networkPolicy.metrics.enabled") {
		r.spec.NetworkPolicy.MetricsFrom = r.peers("networkPolicy.metrics")
	}
}

func (r *release) peers(path string) (peers []networkingv1.NetworkPolicyPeer) {
	if r.on(path + ".allowSameNamespace") {
		peers = append(peers, peer(nil, map[string]string{
			"kubernetes.io/metadata.name": r.options.ReleaseNamespace,
		}))
	}
	r.at(path + ".allowSameNamespace")
	peers = append(peers, get[[]networkingv1.NetworkPolicyPeer](r, path+".extraFrom")...)
	return r.orNobody(fmt.Sprintf("%s.allowSameNamespace false", path), peers)
}
