package main

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// setServers has the servers of the release in a comment, until every operator has spec.bootstrap.
func (r *release) setServers(servers []string) {
	if r.sasl {
		r.report("auth: keys cannot be copied from servers with SASL; start with an empty cache (docs/leaving.md)")
		return
	}
	if len(servers) == 0 {
		return
	}
	from := map[string]any{"servers": servers}
	if r.spec.TLS != nil {
		from["tls"] = map[string]string{"secretName": r.spec.TLS.SecretName}
	}
	if r.spec.Auth != nil {
		from["auth"] = map[string]string{"secretName": r.spec.Auth.SecretName}
	}
	content, err := yaml.Marshal(map[string]any{"bootstrap": map[string]any{"from": from}})
	if err != nil {
		r.fail("spec.bootstrap: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		r.comment += "  # " + line
	}
	r.report("spec.bootstrap: copies keys from the servers of the release. It is a comment of the manifest, as not " +
		"every operator has it: see kubectl explain memcached.spec.bootstrap. Write servers as clients do, in their order")
}

// podServers are the Pods of a StatefulSet by their names.
func (r *release) podServers(service, port string) (servers []string) {
	for i := range *r.spec.Size {
		servers = append(servers, fmt.Sprintf("%s-%d.%s", r.fullName, i, r.server(service, port)))
	}
	return servers
}

// server is a Service of the release.
func (r *release) server(service, port string) string {
	domain := r.text("clusterDomain")
	if domain == "" {
		domain = "cluster.local"
	}
	namespace := r.text("namespaceOverride")
	if namespace == "" {
		namespace = r.options.releaseNamespace
	}
	return fmt.Sprintf("%s.%s.svc.%s:%s", service, namespace, domain, port)
}
