package integration

import "strings"

// fieldRefusals are those of fields that were added later.
var fieldRefusals = map[string]refusal{
	"a pull policy unheard of":             {"spec.imagePullPolicy enum", `{imagePullPolicy: Sometimes}`, `spec.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`},
	"13 limits of the agent":               {"spec.agent.resources.limits maxProperties", `{agent: {resources: {limits: {` + items(13, "example.com/r%d: 1") + `}}}}`, `spec.agent.resources.limits: Too many: 13: must have at most 12 items`},
	"a limit of the agent that is none":    {"spec.agent.resources.limits rule 1", `{agent: {resources: {limits: {cpu: 1e1.5}}}}`, `limits must be quantities, such as 500m of cpu or 256Mi of memory`},
	"13 requests of the agent":             {"spec.agent.resources.requests maxProperties", `{agent: {resources: {requests: {` + items(13, "example.com/r%d: 1") + `}}}}`, `spec.agent.resources.requests: Too many: 13: must have at most 12 items`},
	"a request of the agent that is none":  {"spec.agent.resources.requests rule 1", `{agent: {resources: {requests: {cpu: 1e1.5}}}}`, `requests must be quantities, such as 500m of cpu or 256Mi of memory`},
	"an empty scheduler":                   {"spec.placement.schedulerName minLength", `{placement: {schedulerName: ""}}`, `spec.placement.schedulerName: Invalid value: "": spec.placement.schedulerName in body should be at least 1 chars long`},
	"a scheduler that is no name":          {"spec.placement.schedulerName pattern", `{placement: {schedulerName: "A B"}}`, `spec.placement.schedulerName: Invalid value: "A B": spec.placement.schedulerName in body should match`},
	"a scheduler too long":                 {"spec.placement.schedulerName maxLength", `{placement: {schedulerName: ` + strings.Repeat("a", 254) + `}}`, `spec.placement.schedulerName: Too long: may not be more than 253 `},
	"an empty runtime class":               {"spec.placement.runtimeClassName minLength", `{placement: {runtimeClassName: ""}}`, `spec.placement.runtimeClassName: Invalid value: "": spec.placement.runtimeClassName in body should be at least 1 chars long`},
	"a runtime class that is no name":      {"spec.placement.runtimeClassName pattern", `{placement: {runtimeClassName: "A B"}}`, `spec.placement.runtimeClassName: Invalid value: "A B": spec.placement.runtimeClassName in body should match`},
	"a runtime class too long":             {"spec.placement.runtimeClassName maxLength", `{placement: {runtimeClassName: ` + strings.Repeat("a", 254) + `}}`, `spec.placement.runtimeClassName: Too long: may not be more than 253 `},
	"a drain below 0":                      {"spec.rollout.drainSeconds minimum", `{rollout: {drainSeconds: -1}}`, `spec.rollout.drainSeconds: Invalid value: -1: spec.rollout.drainSeconds in body should be greater than or equal to 0`},
	"a drain of more than ten minutes":     {"spec.rollout.drainSeconds maximum", `{rollout: {drainSeconds: 601}}`, `spec.rollout.drainSeconds: Invalid value: 601: spec.rollout.drainSeconds in body should be less than or equal to 600`},
	"a label that finds all objects":       {"spec.metadata.labels rule 1", `{metadata: {labels: {app: x}}}`, `labels must not contain app or memcached_cr: by these two the operator finds its objects; choose another name`},
	"a label of the operator's":            {"spec.metadata.labels rule 2", `{metadata: {labels: {cache.example.com/x: x}}}`, `spec.metadata.labels: Invalid value: labels must not begin with cache.example.com/: these names are the operator's; choose another name`},
	"65 labels of all objects":             {"spec.metadata.labels maxProperties", `{metadata: {labels: {` + items(65, "k%d: v") + `}}}`, `spec.metadata.labels: Too many: 65: must have at most 64 items`},
	"an annotation of the operator's":      {"spec.metadata.annotations rule 1", `{metadata: {annotations: {cache.example.com/applied-hash: x}}}`, `spec.metadata.annotations: Invalid value: annotations must not begin with cache.example.com/: these names are the operator's; choose another name`},
	"a Deployment controller's annotation": {"spec.metadata.annotations rule 2", `{metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}}`, `annotations must not begin with deployment.kubernetes.io/: the Deployment controller sets these; choose another name`},
	"65 annotations of all objects":        {"spec.metadata.annotations maxProperties", `{metadata: {annotations: {` + items(65, "k%d: v") + `}}}`, `spec.metadata.annotations: Too many: 65: must have at most 64 items`},
	"a Pod label of the operator's":        {"spec.podMetadata.labels rule 2", `{podMetadata: {labels: {cache.example.com/x: x}}}`, `spec.podMetadata.labels: Invalid value: labels must not begin with cache.example.com/: these names are the operator's; choose another name`},
	"a Pod annotation of the operator's":   {"spec.podMetadata.annotations rule 1", `{podMetadata: {annotations: {cache.example.com/template-revision: "9"}}}`, `spec.podMetadata.annotations: Invalid value: annotations must not begin with cache.example.com/: these names are the operator's; choose another name`},
	"a Service label of the operator's":    {"spec.service.labels rule 2", `{service: {labels: {cache.example.com/x: x}}}`, `spec.service.labels: Invalid value: labels must not begin with cache.example.com/: these names are the operator's; choose another name`},
	"a Service annotation of the operator": {"spec.service.annotations rule 1", `{service: {annotations: {cache.example.com/rollout-held: "true"}}}`, `spec.service.annotations: Invalid value: annotations must not begin with cache.example.com/: these names are the operator's; choose another name`},
	"an IP family policy unheard of":       {"spec.service.ipFamilyPolicy enum", `{service: {ipFamilyPolicy: Both}}`, `spec.service.ipFamilyPolicy: Unsupported value: "Both": supported values: "SingleStack", "PreferDualStack", "RequireDualStack"`},
	"an IP family unheard of":              {"spec.service.ipFamilies[] enum", `{service: {ipFamilies: [IPv5]}}`, `spec.service.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"`},
	"three IP families":                    {"spec.service.ipFamilies maxItems", `{service: {ipFamilies: [IPv4, IPv6, IPv4]}}`, `spec.service.ipFamilies: Too many: 3: must have at most 2 items`},
	"an IP family twice":                   {"spec.service.ipFamilies rule 1", `{service: {ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv4, IPv4]}}`, `spec.service.ipFamilies: Invalid value: ipFamilies must not name a family twice: leave one out, or name IPv4 and IPv6`},
	"two IP families on one stack":         {"spec.service rule 1", `{service: {ipFamilyPolicy: SingleStack, ipFamilies: [IPv4, IPv6]}}`, twoFamilies},
	"two IP families without a policy":     {"spec.service rule 1", `{service: {ipFamilies: [IPv4, IPv6]}}`, twoFamilies},
	"a TLS version unheard of":             {"spec.tls.minVersion enum", `{tls: {secretName: tls, minVersion: VersionTLS11}}`, `spec.tls.minVersion: Unsupported value: "VersionTLS11": supported values: "VersionTLS12", "VersionTLS13"`},
	"no cipher suite":                      {"spec.tls.cipherSuites minItems", `{tls: {secretName: tls, cipherSuites: []}}`, `spec.tls.cipherSuites: Invalid value: 0: spec.tls.cipherSuites in body should have at least 1 items`},
	"17 cipher suites":                     {"spec.tls.cipherSuites maxItems", `{tls: {secretName: tls, cipherSuites: [` + items(17, "ECDHE-RSA-AES128-SHA #%d\n") + `]}}`, `spec.tls.cipherSuites: Too many: 17: must have at most 16 items`},
	"a cipher suite twice":                 {"spec.tls.cipherSuites unique", `{tls: {secretName: tls, cipherSuites: [ECDHE-RSA-AES128-SHA, ECDHE-RSA-AES128-SHA]}}`, `spec.tls.cipherSuites[1]: Duplicate value: "ECDHE-RSA-AES128-SHA"`},
	"a cipher suite without encryption":    {"spec.tls.cipherSuites[] enum", `{tls: {secretName: tls, cipherSuites: [ECDHE-RSA-NULL-SHA]}}`, `spec.tls.cipherSuites[0]: Unsupported value: "ECDHE-RSA-NULL-SHA": supported values: "ECDHE-ECDSA-AES128-GCM-SHA256", `},
	"a cipher suite that smuggles":         {"spec.tls.cipherSuites[] enum", `{tls: {secretName: tls, cipherSuites: ["ECDHE-RSA-AES128-SHA,ssl_key=/x"]}}`, `spec.tls.cipherSuites[0]: Unsupported value: "ECDHE-RSA-AES128-SHA,ssl_key=/x"`},
	"a security level":                     {"spec.tls.cipherSuites[] enum", `{tls: {secretName: tls, cipherSuites: ["DEFAULT@SECLEVEL=0"]}}`, `spec.tls.cipherSuites[0]: Unsupported value: "DEFAULT@SECLEVEL=0"`},
	"cipher suites that have no effect":    {"spec.tls rule 1", `{tls: {secretName: tls, minVersion: VersionTLS13, cipherSuites: [ECDHE-RSA-AES128-SHA]}}`, `spec.tls: Invalid value: cipherSuites are those of TLS 1.2 and have no effect with minVersion VersionTLS13: remove one of the two`},
	"slab metrics unheard of":              {"spec.metrics.slabMetrics enum", `{metrics: {slabMetrics: None}}`, `spec.metrics.slabMetrics: Unsupported value: "None": supported values: "Totals", "PerClass"`},
}

const twoFamilies = `spec.service: Invalid value: two ipFamilies need ipFamilyPolicy PreferDualStack or RequireDualStack: set it, or name one family`
