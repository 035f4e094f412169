package migrate

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// setServers lets the cache copy the keys of the release. If the options do not name the hash of the clients, the
// setting is only a comment in the manifest.
func (r *release) setServers(servers []string) {
	if r.sasl {
		r.report("auth: keys cannot be copied from servers with SASL; start with an empty cache (docs/leaving.md)")
		return
	}
	if len(servers) == 0 {
		return
	}
	wanted := &cachev1.Bootstrap{From: cachev1.BootstrapSource{Servers: servers}}
	if r.spec.TLS != nil {
		wanted.From.TLS = &cachev1.BootstrapTLS{SecretName: r.spec.TLS.SecretName}
	}
	if r.spec.Auth != nil {
		wanted.From.Auth = &cachev1.BootstrapAuth{SecretName: r.spec.Auth.SecretName}
	}
	comment := ""
	if r.spec.Bootstrap = wanted; r.spec.Slots.ClientHash == "" {
		r.spec.Bootstrap, comment = nil, " It is a comment, because it needs the hash of your clients: --client-hash."
		content, err := yaml.Marshal(map[string]any{"bootstrap": wanted})
		if err != nil {
			r.fail("spec.bootstrap: %w", err)
		}
		for line := range strings.Lines(string(content)) {
			r.comment += "  # " + line
		}
	}
	r.report("spec.bootstrap: copies the keys of the release (docs/moving-in.md).%s Write the servers as clients do, "+
		"in the same order", comment)
}

// podServers returns the addresses of the Pods of a StatefulSet. Each address begins with the name of the Pod.
func (r *release) podServers(service, port string) (servers []string) {
	for i := range *r.spec.Size {
		servers = append(servers, fmt.Sprintf("%s-%d.%s", r.fullName, i, r.server(service, port)))
	}
	return servers
}

// server returns the address of a Service of the release.
func (r *release) server(service, port string) string {
	domain := cmp.Or(r.text("clusterDomain"), "cluster.local")
	namespace := cmp.Or(r.text("namespaceOverride"), r.options.ReleaseNamespace)
	return fmt.Sprintf("%s.%s.svc.%s:%s", service, namespace, domain, port)
}
