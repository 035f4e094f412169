package history

import (
	"strconv"
	"strings"
)

// AuditPolicy returns a policy that logs all writes in the namespaces of runs, with the stored objects, and the reads
// of these operators, without objects.
func AuditPolicy(operators ...string) string {
	var users []string
	for _, user := range operators {
		users = append(users, strconv.Quote(user))
	}
	return strings.ReplaceAll(auditPolicy, "OPERATORS", strings.Join(users, ", "))
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: false
rules:
  - level: None # It writes those of Services with a selector.
    users: ["system:serviceaccount:kube-system:endpointslice-controller"]
  - level: RequestResponse
    verbs: [create, update, patch, delete, deletecollection]
    resources:
      - {group: cache.example.com, resources: [memcacheds, memcacheds/status, memcacheds/scale]}
      - {group: "", resources: [services, pods, pods/status, pods/resize, pods/eviction]}
      - group: apps
        resources: [deployments, deployments/status, deployments/scale, replicasets, replicasets/status]
      - {group: networking.k8s.io, resources: [networkpolicies]}
      - {group: policy, resources: [poddisruptionbudgets, poddisruptionbudgets/status]}
      - {group: discovery.k8s.io, resources: [endpointslices]}
  - level: Request
    users: [OPERATORS]
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
    users: [OPERATORS]
  - level: None
`
