package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// validSpec has every field, so that each case below is about the one field that it changes.
const validSpec = `
size: 3
image: registry.example.com:5000/memcached:1.6
imagePullPolicy: IfNotPresent
imagePullSecrets: [{name: registry}]
memory: 128Mi
maxItemSize: 2Mi
maxConnections: 2048
threads: 2
extraArgs: [-v]
resources: {limits: {memory: 1Gi}}
agent: {resources: {limits: {cpu: 100m}}}
architectures: [amd64, arm64]
preferredArchitectures: [{architecture: arm64, weight: 10}]
placement: {nodeSelector: {disk: ssd}, tolerations: [{operator: Exists}], priorityClassName: high, schedulerName: batch, runtimeClassName: sandbox}
rollout: {maxSurge: 25%, maxUnavailable: 1, minReadySeconds: 5, drainSeconds: 60, progressDeadlineSeconds: 900}
updatePolicy: Automatic
disruption: {maxUnavailable: 1}
metadata: {labels: {team: a}, annotations: {team: a}}
podMetadata: {labels: {team: a}, annotations: {team: a}}
service: {labels: {team: a}, annotations: {team: a}, ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4, IPv6]}
tls: {secretName: tls, clientAuth: Require, plaintext: Enabled, minVersion: VersionTLS12, cipherSuites: [ECDHE-RSA-AES128-GCM-SHA256]}
auth: {secretName: users}
metrics: {mode: Enabled, slabMetrics: PerClass}
networkPolicy: {mode: Enabled, from: [{podSelector: {}}], metricsFrom: [{podSelector: {}}]}
suspend: true
`

// refusal is a rule of the CRD, a change that breaks it, and what the API server then says.
type refusal struct{ rule, change, want string }

var refusals = map[string]refusal{
	"a size below 0":                        {"spec.size minimum", `{size: -1}`, `spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0`},
	"a size above 1000":                     {"spec.size maximum", `{size: 1001}`, `spec.size: Invalid value: 1001: spec.size in body should be less than or equal to 1000`},
	"an empty image":                        {"spec.image minLength", `{image: ""}`, `spec.image: Invalid value: "": spec.image in body should be at least 1 chars long`},
	"an image of 513 characters":            {"spec.image maxLength", `{image: ` + strings.Repeat("a", 513) + `}`, `spec.image: Too long: may not be more than 512 `},
	"17 pull secrets":                       {"spec.imagePullSecrets maxItems", `{imagePullSecrets: [` + items(17, "{name: s%d}") + `]}`, `spec.imagePullSecrets: Too many: 17: must have at most 16 items`},
	"a pull secret twice":                   {"spec.imagePullSecrets unique", `{imagePullSecrets: [{name: a}, {name: a}]}`, `spec.imagePullSecrets[1]: Duplicate value: {"name":"a"}`},
	"a pull secret without a name":          {"spec.imagePullSecrets[] required name", `{imagePullSecrets: [{}]}`, `spec.imagePullSecrets[0].name: Required value`},
	"a pull secret with an empty name":      {"spec.imagePullSecrets[].name minLength", `{imagePullSecrets: [{name: ""}]}`, `spec.imagePullSecrets[0].name: Invalid value: "": spec.imagePullSecrets[0].name in body should be at least 1 chars long`},
	"a pull secret's name that is none":     {"spec.imagePullSecrets[].name pattern", `{imagePullSecrets: [{name: "A B"}]}`, `spec.imagePullSecrets[0].name: Invalid value: "A B": spec.imagePullSecrets[0].name in body should match`},
	"a pull secret's name too long":         {"spec.imagePullSecrets[].name maxLength", `{imagePullSecrets: [{name: ` + strings.Repeat("a", 254) + `}]}`, `spec.imagePullSecrets[0].name: Too long: may not be more than 253 `},
	"memory that is no quantity":            {"spec.memory pattern", `{memory: lots}`, `spec.memory: Invalid value: "lots": spec.memory in body should match`},
	"too little memory":                     {"spec.memory rule 1", `{memory: 16383Ki}`, `spec.memory: Invalid value: "16383Ki": memory must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes`},
	"too little memory, as a number":        {"spec.memory rule 1", `{memory: 64}`, `spec.memory: Invalid value: 64: memory must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes`},
	"too little memory, in quotes":          {"spec.memory rule 1", `{memory: "16777215"}`, `spec.memory: Invalid value: "16777215": memory must be a quantity of at least 16Mi`},
	"memory below zero":                     {"spec.memory rule 1", `{memory: "-1Gi"}`, `spec.memory: Invalid value: "-1Gi": memory must be a quantity of at least 16Mi`},
	"what only looks like a quantity":       {"spec.memory rule 1", `{memory: 1e1.5}`, `is invalid: spec.memory: Invalid value: "1e1.5": memory must be a quantity of at least 16Mi`},
	"too much memory":                       {"spec.memory rule 2", `{memory: 4097Gi}`, `spec.memory: Invalid value: "4097Gi": memory must be at most 4Ti a node: raise size to spread the cache over more nodes`},
	"too much memory, as a number":          {"spec.memory rule 2", `{memory: 4398046511105}`, `spec.memory: Invalid value: 4398046511105: memory must be at most 4Ti a node`},
	"memory that is not whole, as a number": {"", `{memory: 67108864.5}`, `spec.memory in body must be of type integer,string: "number"`},
	"an item size that is no quantity":      {"spec.maxItemSize pattern", `{maxItemSize: big}`, `spec.maxItemSize: Invalid value: "big": spec.maxItemSize in body should match`},
	"too small an item size":                {"spec.maxItemSize rule 1", `{maxItemSize: 1023}`, `spec.maxItemSize: Invalid value: 1023: maxItemSize must be a quantity of at least 512Ki, memcached's chunk of a large item, such as 2Mi; a number without a unit counts bytes`},
	"too large an item size":                {"spec.maxItemSize rule 2", `{maxItemSize: 1025Mi}`, `spec.maxItemSize: Invalid value: "1025Mi": maxItemSize must be at most 1Gi, memcached's own bound: split larger values`},
	"too few connections":                   {"spec.maxConnections minimum", `{maxConnections: 15}`, `spec.maxConnections: Invalid value: 15: spec.maxConnections in body should be greater than or equal to 16`},
	"too many connections":                  {"spec.maxConnections maximum", `{maxConnections: 200001}`, `spec.maxConnections: Invalid value: 200001: spec.maxConnections in body should be less than or equal to 200000`},
	"no threads":                            {"spec.threads minimum", `{threads: 0}`, `spec.threads: Invalid value: 0: spec.threads in body should be greater than or equal to 1`},
	"65 threads":                            {"spec.threads maximum", `{threads: 65}`, `spec.threads: Invalid value: 65: spec.threads in body should be less than or equal to 64`},
	"65 arguments":                          {"spec.extraArgs maxItems", `{extraArgs: [` + items(65, "-v%d") + `]}`, `spec.extraArgs: Too many: 65: must have at most 64 items`},
	"an empty argument":                     {"spec.extraArgs[] minLength", `{extraArgs: [""]}`, `spec.extraArgs[0]: Invalid value: "": spec.extraArgs[0] in body should be at least 1 chars long`},
	"an argument of 513 characters":         {"spec.extraArgs[] maxLength", `{extraArgs: [` + strings.Repeat("a", 513) + `]}`, `spec.extraArgs[0]: Too long: may not be more than 512 `},
	"no architecture":                       {"spec.architectures minItems", `{architectures: []}`, `spec.architectures: Invalid value: 0: spec.architectures in body should have at least 1 items`},
	"nine architectures":                    {"spec.architectures maxItems", `{architectures: [` + items(9, "amd64 #%d\n") + `]}`, `spec.architectures: Too many: 9: must have at most 8 items`},
	"an architecture twice":                 {"spec.architectures unique", `{architectures: [amd64, amd64]}`, `spec.architectures[1]: Duplicate value: "amd64"`},
	"an architecture unheard of":            {"spec.architectures[] enum", `{architectures: [riscv64]}`, `spec.architectures[0]: Unsupported value: "riscv64": supported values: "amd64", "arm64", "ppc64le", "s390x"`},
	"nine preferences":                      {"spec.preferredArchitectures maxItems", `{preferredArchitectures: [` + items(9, "{architecture: amd64, weight: %d}") + `]}`, `spec.preferredArchitectures: Too many: 9: must have at most 8 items`},
	"a preference twice":                    {"spec.preferredArchitectures unique", `{preferredArchitectures: [{architecture: amd64, weight: 1}, {architecture: amd64, weight: 2}]}`, `spec.preferredArchitectures[1]: Duplicate value: {"architecture":"amd64"}`},
	"a preference for nothing":              {"spec.preferredArchitectures[] required architecture", `{preferredArchitectures: [{weight: 1}]}`, `spec.preferredArchitectures[0].architecture: Required value`},
	"a preference without weight":           {"spec.preferredArchitectures[] required weight", `{preferredArchitectures: [{architecture: amd64}]}`, `spec.preferredArchitectures[0].weight: Required value`},
	"a preference unheard of":               {"spec.preferredArchitectures[].architecture enum", `{preferredArchitectures: [{architecture: vax, weight: 1}]}`, `spec.preferredArchitectures[0].architecture: Unsupported value: "vax": supported values: "amd64", "arm64", "ppc64le", "s390x"`},
	"a weight of 0":                         {"spec.preferredArchitectures[].weight minimum", `{preferredArchitectures: [{architecture: amd64, weight: 0}]}`, `spec.preferredArchitectures[0].weight: Invalid value: 0: spec.preferredArchitectures[0].weight in body should be greater than or equal to 1`},
	"a weight of 101":                       {"spec.preferredArchitectures[].weight maximum", `{preferredArchitectures: [{architecture: amd64, weight: 101}]}`, `spec.preferredArchitectures[0].weight: Invalid value: 101: spec.preferredArchitectures[0].weight in body should be less than or equal to 100`},
	"a node selector of 65 labels":          {"spec.placement.nodeSelector maxProperties", `{placement: {nodeSelector: {` + items(65, "k%d: v") + `}}}`, `spec.placement.nodeSelector: Too many: 65: must have at most 64 items`},
	"65 tolerations":                        {"spec.placement.tolerations maxItems", `{placement: {tolerations: [` + items(65, "{key: k%d}") + `]}}`, `spec.placement.tolerations: Too many: 65: must have at most 64 items`},
	"a spread constraint twice":             {"spec.placement.topologySpreadConstraints unique", `{placement: {topologySpreadConstraints: [` + items(2, "{topologyKey: k, maxSkew: %d, whenUnsatisfiable: DoNotSchedule}") + `]}}`, `spec.placement.topologySpreadConstraints[1]: Duplicate value`},
	"17 spread constraints":                 {"spec.placement.topologySpreadConstraints maxItems", `{placement: {topologySpreadConstraints: [` + items(17, "{topologyKey: k%d, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}") + `]}}`, `spec.placement.topologySpreadConstraints: Too many: 17: must have at most 16 items`},
	"an empty priority class":               {"spec.placement.priorityClassName minLength", `{placement: {priorityClassName: ""}}`, `spec.placement.priorityClassName: Invalid value: "": spec.placement.priorityClassName in body should be at least 1 chars long`},
	"a priority class too long":             {"spec.placement.priorityClassName maxLength", `{placement: {priorityClassName: ` + strings.Repeat("a", 254) + `}}`, `spec.placement.priorityClassName: Too long: may not be more than 253 `},
	"neither surge nor unavailable":         {"spec.rollout rule 1", `{rollout: {maxSurge: 0, maxUnavailable: 0}}`, neither},
	"neither, in per cent":                  {"spec.rollout rule 1", `{rollout: {maxSurge: 0%, maxUnavailable: 0%}}`, neither},
	"neither, one in per cent":              {"spec.rollout rule 1", `{rollout: {maxSurge: 0%, maxUnavailable: 0}}`, neither},
	"neither, the other in per cent":        {"spec.rollout rule 1", `{rollout: {maxSurge: 0, maxUnavailable: 0%}}`, neither},
	"no surge, unavailable left out":        {"spec.rollout rule 1", `{rollout: {maxSurge: 0}}`, neither},
	"no surge, unavailable null":            {"spec.rollout rule 1", `{rollout: {maxSurge: 0%, maxUnavailable: null}}`, neither},
	"a surge below 0":                       {"spec.rollout.maxSurge rule 1", `{rollout: {maxSurge: -1}}`, `spec.rollout.maxSurge: Invalid value: -1: maxSurge must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%`},
	"a surge above 1000":                    {"spec.rollout.maxSurge rule 1", `{rollout: {maxSurge: 1001}}`, `spec.rollout.maxSurge: Invalid value: 1001: maxSurge must be a number from 0 to 1000`},
	"a surge of 1000%":                      {"spec.rollout.maxSurge rule 1", `{rollout: {maxSurge: 1000%}}`, `spec.rollout.maxSurge: Invalid value: "1000%": maxSurge must be`},
	"a surge in quotes":                     {"spec.rollout.maxSurge rule 1", `{rollout: {maxSurge: "2"}}`, `spec.rollout.maxSurge: Invalid value: "2": maxSurge must be a number from 0 to 1000 without quotes`},
	"a surge of 00%":                        {"spec.rollout.maxSurge rule 1", `{rollout: {maxSurge: 00%}}`, `spec.rollout.maxSurge: Invalid value: "00%": maxSurge must be`},
	"unavailable below 0":                   {"spec.rollout.maxUnavailable rule 1", `{rollout: {maxUnavailable: -1}}`, `spec.rollout.maxUnavailable: Invalid value: -1: maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%`},
	"unavailable beyond 32 bits":            {"spec.rollout.maxUnavailable rule 1", `{rollout: {maxUnavailable: 5000000000}}`, `spec.rollout.maxUnavailable: Invalid value: 5000000000: maxUnavailable must be`},
	"unavailable above 100%":                {"spec.rollout.maxUnavailable rule 1", `{rollout: {maxUnavailable: 101%}}`, `spec.rollout.maxUnavailable: Invalid value: "101%": maxUnavailable must be`},
	"ready for less than 0 s":               {"spec.rollout.minReadySeconds minimum", `{rollout: {minReadySeconds: -1}}`, `spec.rollout.minReadySeconds: Invalid value: -1: spec.rollout.minReadySeconds in body should be greater than or equal to 0`},
	"ready for more than 3600 s":            {"spec.rollout.minReadySeconds maximum", `{rollout: {minReadySeconds: 3601}}`, `spec.rollout.minReadySeconds: Invalid value: 3601: spec.rollout.minReadySeconds in body should be less than or equal to 3600`},
	"a deadline below 1 s":                  {"spec.rollout.progressDeadlineSeconds minimum", `{rollout: {progressDeadlineSeconds: 0}}`, `spec.rollout.progressDeadlineSeconds: Invalid value: 0: spec.rollout.progressDeadlineSeconds in body should be greater than or equal to 1`},
	"a deadline above a day":                {"spec.rollout.progressDeadlineSeconds maximum", `{rollout: {progressDeadlineSeconds: 86401}}`, `spec.rollout.progressDeadlineSeconds: Invalid value: 86401: spec.rollout.progressDeadlineSeconds in body should be less than or equal to 86400`},
	"a deadline within minReadySeconds":     {"spec.rollout rule 2", `{rollout: {minReadySeconds: 60, progressDeadlineSeconds: 60}}`, `progressDeadlineSeconds must be greater than minReadySeconds, as a new Pod counts as progress only after that time: raise progressDeadlineSeconds or lower minReadySeconds`},
	"an update policy unheard of":           {"spec.updatePolicy enum", `{updatePolicy: Never}`, `spec.updatePolicy: Unsupported value: "Never": supported values: "OnSpecChange", "Automatic"`},
	"a disruption above 1000":               {"spec.disruption.maxUnavailable rule 1", `{disruption: {maxUnavailable: 1001}}`, `spec.disruption.maxUnavailable: Invalid value: 1001: maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%`},
	"a disruption above 100%":               {"spec.disruption.maxUnavailable rule 1", `{disruption: {maxUnavailable: 101%}}`, `spec.disruption.maxUnavailable: Invalid value: "101%": maxUnavailable must be`},
	"a Pod label that selects":              {"spec.podMetadata.labels rule 1", `{podMetadata: {labels: {app: x}}}`, `labels must not contain app or memcached_cr: by these two the Pods of a cache are selected; choose another name`},
	"a Pod label that selects the cache":    {"spec.podMetadata.labels rule 1", `{podMetadata: {labels: {memcached_cr: x}}}`, `spec.podMetadata.labels: Invalid value: `},
	"65 Pod labels":                         {"spec.podMetadata.labels maxProperties", `{podMetadata: {labels: {` + items(65, "k%d: v") + `}}}`, `spec.podMetadata.labels: Too many: 65: must have at most 64 items`},
	"65 Pod annotations":                    {"spec.podMetadata.annotations maxProperties", `{podMetadata: {annotations: {` + items(65, "k%d: v") + `}}}`, `spec.podMetadata.annotations: Too many: 65: must have at most 64 items`},
	"a Service label that finds it":         {"spec.service.labels rule 1", `{service: {labels: {app: x}}}`, `labels must not contain app or memcached_cr: by these two the operator finds the Service; choose another name`},
	"65 Service labels":                     {"spec.service.labels maxProperties", `{service: {labels: {` + items(65, "k%d: v") + `}}}`, `spec.service.labels: Too many: 65: must have at most 64 items`},
	"65 clients":                            {"spec.networkPolicy.from maxItems", `{networkPolicy: {from: [` + items(65, "{ipBlock: {cidr: 10.0.0.%d/32}}") + `]}}`, `spec.networkPolicy.from: Too many: 65: must have at most 64 items`},
	"65 who read metrics":                   {"spec.networkPolicy.metricsFrom maxItems", `{networkPolicy: {metricsFrom: [` + items(65, "{ipBlock: {cidr: 10.0.0.%d/32}}") + `]}}`, `spec.networkPolicy.metricsFrom: Too many: 65: must have at most 64 items`},
	"TLS without a Secret":                  {"spec.tls required secretName", `{tls: {secretName: null}}`, `spec.tls.secretName: Required value`},
	"TLS with an empty Secret's name":       {"spec.tls.secretName minLength", `{tls: {secretName: ""}}`, `spec.tls.secretName: Invalid value: "": spec.tls.secretName in body should be at least 1 chars long`},
	"TLS with a Secret's name that is none": {"spec.tls.secretName pattern", `{tls: {secretName: "A B"}}`, `spec.tls.secretName: Invalid value: "A B": spec.tls.secretName in body should match`},
	"TLS with a Secret's name too long":     {"spec.tls.secretName maxLength", `{tls: {secretName: ` + strings.Repeat("a", 254) + `}}`, `spec.tls.secretName: Too long: may not be more than 253 `},
	"a client auth unheard of":              {"spec.tls.clientAuth enum", `{tls: {clientAuth: Always}}`, `spec.tls.clientAuth: Unsupported value: "Always": supported values: "None", "Request", "Require"`},
	"a plaintext unheard of":                {"spec.tls.plaintext enum", `{tls: {plaintext: Disabled}}`, `spec.tls.plaintext: Unsupported value: "Disabled": supported values: "Loopback", "Enabled"`},
	"auth without a Secret":                 {"spec.auth required secretName", `{auth: {secretName: null}}`, `spec.auth.secretName: Required value`},
	"auth with an empty Secret's name":      {"spec.auth.secretName minLength", `{auth: {secretName: ""}}`, `spec.auth.secretName: Invalid value: "": spec.auth.secretName in body should be at least 1 chars long`},
	"auth with a name that is none":         {"spec.auth.secretName pattern", `{auth: {secretName: "A B"}}`, `spec.auth.secretName: Invalid value: "A B": spec.auth.secretName in body should match`},
	"auth with a name too long":             {"spec.auth.secretName maxLength", `{auth: {secretName: ` + strings.Repeat("a", 254) + `}}`, `spec.auth.secretName: Too long: may not be more than 253 `},
	"metrics unheard of":                    {"spec.metrics.mode enum", `{metrics: {mode: Sometimes}}`, `spec.metrics.mode: Unsupported value: "Sometimes": supported values: "Enabled", "Disabled"`},
	"a network policy unheard of":           {"spec.networkPolicy.mode enum", `{networkPolicy: {mode: Strict}}`, `spec.networkPolicy.mode: Unsupported value: "Strict": supported values: "Enabled", "Disabled"`},
	"65 Service annotations":                {"spec.service.annotations maxProperties", `{service: {annotations: {` + items(65, "k%d: v") + `}}}`, `spec.service.annotations: Too many: 65: must have at most 64 items`},
	"a field that there is not":             {"", `{sizes: 3}`, `unknown field "spec.sizes"`},
	"a size in quotes":                      {"", `{size: "3"}`, `spec.size in body must be of type integer: "string"`},
	"resources that are no quantities":      {"", `{resources: {limits: {memory: lots}}}`, `spec.resources.limits.memory: Invalid value: "lots"`},
}

const neither = `spec.rollout: Invalid value: maxSurge and maxUnavailable, which defaults to 0, must not both be 0: a node could neither be added nor taken away; set maxUnavailable to 1`

func allRefusals() map[string]refusal {
	all := maps.Clone(refusals)
	maps.Copy(all, fieldRefusals)
	return all
}

func TestAnInvalidSpecIsRefusedWithWordsThatHelp(t *testing.T) {
	live := liveMemcached(t)
	for name, tc := range allRefusals() {
		t.Run(name, func(t *testing.T) {
			for when, err := range tryOut(t, live, tc.change) {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("on %s:\nwant %s\ngot  %v", when, tc.want, err)
				}
			}
		})
	}
}

func TestEveryRuleOfTheSpecIsSeenToRefuse(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range allRefusals() {
		seen[tc.rule] = true
	}
	delete(seen, "")
	schema := specSchema(readCRD(t))
	if diff := cmp.Diff(schemaRules(schema, "spec"), slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("rules of the CRD (-) and of the table (+):\n%s", diff)
	}
}

func TestASpecAtItsBoundsIsTaken(t *testing.T) {
	live := liveMemcached(t)
	for _, change := range []string{
		`{}`, `{size: 0}`, `{size: 1000}`, `{size: null}`, `{image: m}`, `{image: ` + strings.Repeat("a", 512) + `}`,
		`{imagePullSecrets: [` + items(16, "{name: s%d}") + `]}`, `{imagePullSecrets: [{name: ` + strings.Repeat("a", 253) + `}]}`,
		`{memory: 16Mi}`, `{memory: 16777216}`, `{memory: "16777216"}`, `{memory: 16777216000m}`, `{memory: 0.015625Gi}`,
		`{memory: 4Ti}`, `{memory: 4398046511104}`, `{memory: 1e9}`, `{memory: 1G}`, `{memory: null}`,
		`{maxItemSize: 512Ki}`, `{maxItemSize: 524288}`, `{maxItemSize: 1Gi}`, `{maxItemSize: 1073741824}`,
		`{maxConnections: 16}`, `{maxConnections: 200000}`, `{threads: 1}`, `{threads: 64}`,
		`{extraArgs: [` + items(64, "-v%d") + `]}`, `{extraArgs: [v, ` + strings.Repeat("a", 512) + `]}`, `{extraArgs: []}`,
		`{architectures: [amd64]}`, `{architectures: [amd64, arm64, ppc64le, s390x]}`, `{preferredArchitectures: []}`,
		`{preferredArchitectures: [{architecture: amd64, weight: 1}, {architecture: s390x, weight: 100}]}`,
		`{placement: {nodeSelector: {` + items(64, "k%d: v") + `}}}`, `{placement: {tolerations: [` + items(64, "{key: k%d}") + `]}}`,
		`{placement: {priorityClassName: a}}`, `{placement: {priorityClassName: ` + strings.Repeat("a", 253) + `}}`,
		`{placement: {topologySpreadConstraints: []}}`,
		`{placement: {topologySpreadConstraints: [` + items(16, "{topologyKey: k%d, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}") + `]}}`,
		`{rollout: {}}`, `{rollout: {maxUnavailable: 0}}`, `{rollout: {maxUnavailable: 0%}}`, `{rollout: {maxSurge: 0, maxUnavailable: 1}}`,
		`{rollout: {maxSurge: 0%, maxUnavailable: 1%}}`, `{rollout: {maxSurge: 1%, maxUnavailable: 0}}`, `{rollout: {maxSurge: null, maxUnavailable: 0}}`,
		`{rollout: {maxSurge: 1000, maxUnavailable: 1000}}`, `{rollout: {maxSurge: 100%, maxUnavailable: 100%}}`,
		`{rollout: {minReadySeconds: 0}}`, `{rollout: {minReadySeconds: 3600}}`, `{rollout: {minReadySeconds: 3600, progressDeadlineSeconds: null}}`,
		`{rollout: {minReadySeconds: 0, progressDeadlineSeconds: 1}}`, `{rollout: {minReadySeconds: 3600, progressDeadlineSeconds: 3601}}`,
		`{rollout: {minReadySeconds: null, progressDeadlineSeconds: 86400}}`,
		`{updatePolicy: OnSpecChange}`, `{updatePolicy: Automatic}`, `{updatePolicy: null}`,
		`{disruption: {maxUnavailable: 0}}`, `{disruption: {maxUnavailable: 1000}}`, `{disruption: {maxUnavailable: 0%}}`, `{disruption: {maxUnavailable: 100%}}`,
		`{podMetadata: {labels: {` + items(64, "k%d: v") + `}, annotations: {` + items(64, "k%d: v") + `}}}`, `{podMetadata: {annotations: {app: x}}}`,
		`{service: {labels: {` + items(64, "k%d: v") + `}, annotations: {` + items(64, "k%d: v") + `}}}`, `{service: {annotations: {memcached_cr: x}}}`,
		`{imagePullPolicy: Always}`, `{imagePullPolicy: Never}`, `{agent: {}}`, `{agent: {resources: {requests: {memory: 32Mi}}}}`,
		`{placement: {schedulerName: a.b, runtimeClassName: ` + strings.Repeat("a", 253) + `}}`, `{rollout: {drainSeconds: 0}}`, `{rollout: {drainSeconds: 600}}`,
		`{metadata: {}}`, `{metadata: {labels: {` + items(64, "k%d: v") + `}, annotations: {` + items(64, "k%d: v") + `}}}`, `{metadata: {annotations: {app: x}}}`,
		`{service: {ipFamilies: [IPv6]}}`, `{service: {ipFamilyPolicy: SingleStack, ipFamilies: [IPv6]}}`, `{service: {ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv6, IPv4]}}`,
		`{service: {ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4]}}`, `{service: {ipFamilies: []}}`, `{tls: {secretName: a, minVersion: VersionTLS13}}`,
		`{tls: {secretName: a, cipherSuites: [ECDHE-ECDSA-CHACHA20-POLY1305, ECDHE-RSA-AES256-SHA]}}`, `{metrics: {slabMetrics: Totals}}`,
	} {
		for when, err := range tryOut(t, live, change) {
			if err != nil {
				t.Errorf("%s on %s: %v", change, when, err)
			}
		}
	}
}

func TestANameThatCanNotNameAServiceIsRefused(t *testing.T) {
	const remedy = `use at most 63 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen`
	for name, taken := range map[string]bool{
		"a": true, "a-1": true, strings.Repeat("a", 63): true,
		"1cache": false, "my.cache": false, strings.Repeat("a", 64): false,
	} {
		err := cluster.Create(t.Context(), memcachedObject(t, name, `{}`), client.DryRunAll)
		want := `metadata.name "` + name + `" can not name a Service: ` + remedy
		if taken != (err == nil) || !taken && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tryOut changes fields of a valid spec, and asks the API server to create such a Memcached and to update the
// live one to it. Nothing is kept.
func tryOut(t *testing.T, live client.Object, change string) map[string]error {
	t.Helper()
	object := memcachedObject(t, "cache", change)
	patch, err := json.Marshal([]any{map[string]any{"op": "replace", "path": "/spec", "value": object.Object["spec"]}})
	if err != nil {
		t.Fatal(err)
	}
	live = live.DeepCopyObject().(client.Object)
	strict := client.FieldValidation("Strict")
	return map[string]error{
		"create": cluster.Create(t.Context(), object, client.DryRunAll, strict),
		"update": cluster.Patch(t.Context(), live, client.RawPatch(types.JSONPatchType, patch), client.DryRunAll, strict),
	}
}

// liveMemcached is one with the valid spec that is really there.
func liveMemcached(t *testing.T) client.Object {
	t.Helper()
	object := memcachedObject(t, "", `{}`)
	object.SetGenerateName("validation-")
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func memcachedObject(t *testing.T, name, change string) *unstructured.Unstructured {
	t.Helper()
	var spec, changes map[string]any
	for content, into := range map[string]*map[string]any{validSpec: &spec, change: &changes} {
		if err := yaml.Unmarshal([]byte(content), into); err != nil {
			t.Fatalf("%v in %s", err, content)
		}
	}
	maps.Copy(spec, changes)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cache.example.com/v1", "kind": "Memcached", "spec": spec,
	}}
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

// items are n items of a list or map, formatted with their number.
func items(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(all, ", ")
}
