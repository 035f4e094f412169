package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/test/crd"
)

// violations are changes to a spec that violate the CEL rules of the CRD. Values beyond bounds need no line here,
// because test/faults/schema makes the API server validate values on both sides of each bound of each field.
var violations = map[string][]string{
	"spec.agent.resources.limits rule 1":   {`{agent: {resources: {limits: {cpu: 1e1.5}}}}`},
	"spec.agent.resources.requests rule 1": {`{agent: {resources: {requests: {cpu: 1e1.5}}}}`},
	"spec.autoscaling.memory rule 1":       {`{autoscaling: {memory: {min: 65Mi, max: 64Mi}}}`},
	"spec.autoscaling.memory.min rule 1":   {`{autoscaling: {memory: {min: 16383Ki, max: 64Mi}}}`},
	"spec.autoscaling.memory.max rule 1":   {`{autoscaling: {memory: {max: 15Mi}}}`, `{autoscaling: {memory: {max: 64}}}`},
	"spec.autoscaling.memory.max rule 2":   {`{autoscaling: {memory: {max: 4097Gi}}}`},
	"spec.autoscaling.size rule 1":         {`{autoscaling: {size: {min: 3, max: 2}}}`},
	"spec.disruption.maxUnavailable rule 1": {
		`{disruption: {maxUnavailable: 1001}}`, `{disruption: {maxUnavailable: 101%}}`,
	},
	"spec.maxItemSize rule 1": {`{maxItemSize: 1023}`},
	"spec.maxItemSize rule 2": {`{maxItemSize: 1025Mi}`},
	"spec.memory rule 1": {
		`{memory: 16383Ki}`, `{memory: 64}`, `{memory: "16777215"}`, `{memory: "-1Gi"}`, `{memory: 1e1.5}`,
	},
	"spec.memory rule 2": {`{memory: 4097Gi}`, `{memory: 4398046511105}`},
	"spec.slots.handoff.bytesPerSecond rule 1": {
		`{slots: {handoff: {bytesPerSecond: 65535}}}`, `{slots: {handoff: {bytesPerSecond: 1e1.5}}}`,
	},
	"spec.slots.handoff.bytesPerSecond rule 2": {`{slots: {handoff: {bytesPerSecond: 65Gi}}}`},
	"spec.placement rule 1": {
		`{placement: {zones: Required, topologySpreadConstraints: [
			{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}`,
	},
	"spec.commonMetadata.annotations rule 1": {`{commonMetadata: {annotations: {cache.example.com/applied-hash: x}}}`},
	"spec.commonMetadata.annotations rule 2": {`{commonMetadata: {annotations: {deployment.kubernetes.io/revision: "1"}}}`},
	"spec.commonMetadata.labels rule 1": {
		`{commonMetadata: {labels: {app: x}}}`, `{commonMetadata: {labels: {memcached_cr: x}}}`,
	},
	"spec.commonMetadata.labels rule 2":            {`{commonMetadata: {labels: {cache.example.com/x: x}}}`},
	"spec.podTemplate.metadata.annotations rule 1": {`{podTemplate: {metadata: {annotations: {cache.example.com/applied-hash: x}}}}`},
	"spec.podTemplate.metadata.annotations rule 2": {`{podTemplate: {metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}}}`},
	"spec.podTemplate.metadata.labels rule 1": {
		`{podTemplate: {metadata: {labels: {app: x}}}}`, `{podTemplate: {metadata: {labels: {memcached_cr: x}}}}`,
	},
	"spec.podTemplate.metadata.labels rule 2":  {`{podTemplate: {metadata: {labels: {cache.example.com/x: x}}}}`},
	"spec.service.metadata.annotations rule 1": {`{service: {metadata: {annotations: {cache.example.com/applied-hash: x}}}}`},
	"spec.service.metadata.annotations rule 2": {`{service: {metadata: {annotations: {deployment.kubernetes.io/revision: "1"}}}}`},
	"spec.service.metadata.labels rule 1": {
		`{service: {metadata: {labels: {app: x}}}}`, `{service: {metadata: {labels: {memcached_cr: x}}}}`,
	},
	"spec.service.metadata.labels rule 2": {`{service: {metadata: {labels: {cache.example.com/x: x}}}}`},
	"spec.resources.limits rule 1":        {`{resources: {limits: {cpu: 1e1.5}}}`},
	"spec.resources.requests rule 1":      {`{resources: {requests: {cpu: 1e1.5}}}`},
	"spec.rollout rule 1": {
		`{rollout: {maxSurge: 0, maxUnavailable: 0}}`, `{rollout: {maxSurge: 0%, maxUnavailable: 0%}}`,
		`{rollout: {maxSurge: 0%, maxUnavailable: 0}}`, `{rollout: {maxSurge: 0, maxUnavailable: 0%}}`,
		`{rollout: {maxSurge: 0}}`, `{rollout: {maxSurge: 0%, maxUnavailable: null}}`,
	},
	"spec.rollout rule 2": {`{rollout: {minReadySeconds: 60, progressDeadlineSeconds: 60}}`},
	"spec.rollout.maxSurge rule 1": {
		`{rollout: {maxSurge: -1}}`, `{rollout: {maxSurge: 1001}}`, `{rollout: {maxSurge: 1000%}}`,
		`{rollout: {maxSurge: "2"}}`, `{rollout: {maxSurge: 00%}}`,
	},
	"spec.rollout.maxUnavailable rule 1": {
		`{rollout: {maxUnavailable: -1}}`, `{rollout: {maxUnavailable: 5000000000}}`,
		`{rollout: {maxUnavailable: 101%}}`,
	},
	"spec.bootstrap rule 1": {`{bootstrap: {mode: CutOver, from: {snapshot: {name: a, url: "s3://b"}}}}`},
	"spec.bootstrap.from rule 1": {
		`{bootstrap: {from: {}}}`, `{bootstrap: {from: {servers: ["a:1"], snapshot: {name: a, url: "s3://b"}}}}`,
	},
	"spec.bootstrap.from rule 2": {
		`{bootstrap: {from: {clientHash: Ketama, snapshot: {name: a, url: "s3://b"}}}}`,
		`{bootstrap: {from: {tls: {secretName: a}, snapshot: {name: a, url: "s3://b"}}}}`,
		`{bootstrap: {from: {auth: {secretName: a}, snapshot: {name: a, url: "s3://b"}}}}`,
	},
	"spec.bootstrap.from.snapshot rule 1": {
		`{bootstrap: {from: {snapshot: {name: a}}}}`,
		`{bootstrap: {from: {snapshot: {name: a, url: "s3://b", persistentVolumeClaim: {claimName: a}}}}}`,
	},
	"spec.bootstrap.from.snapshot rule 2": {
		`{bootstrap: {from: {snapshot: {name: a, persistentVolumeClaim: {claimName: a}, credentials: {secretName: a}}}}}`,
	},
	"spec.bootstrap.from.snapshot.credentials rule 1": {
		`{bootstrap: {from: {snapshot: {name: a, url: "s3://b", credentials: {}}}}}`,
		`{bootstrap: {from: {snapshot: {name: a, url: "s3://b", credentials: {secretName: a, serviceAccountName: a}}}}}`,
	},
	"spec.service rule 1": {
		`{service: {ipFamilyPolicy: SingleStack, ipFamilies: [IPv4, IPv6]}}`, `{service: {ipFamilies: [IPv4, IPv6]}}`,
	},
	"spec.service.ipFamilies rule 1": {`{service: {ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv4, IPv4]}}`},
	"spec.tls rule 1":                {`{tls: {secretName: tls, minVersion: VersionTLS13, cipherSuites: [ECDHE-RSA-AES128-SHA]}}`},
	"spec.tls rule 2":                {`{tls: {}}`, `{tls: {minVersion: VersionTLS13}}`},
}

func TestEveryRuleOfTheSpecRefusesWithItsMessage(t *testing.T) {
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	live, known := liveMemcached(t), 0
	for _, field := range fields {
		for i, rule := range field.Schema.XValidations {
			if strings.Contains(rule.Rule, "oldSelf") {
				continue // The rule is about changes: see TestACutOverDoesNotGoBack.
			}
			name := fmt.Sprintf("%s rule %d", field.Path, i+1)
			changes := violations[name]
			if len(changes) == 0 {
				t.Errorf("add one change that breaks %s: %s", name, rule.Message)
			}
			known++
			for _, change := range changes {
				for when, err := range tryOut(t, live, change) {
					if err == nil || !strings.Contains(err.Error(), field.Path+": Invalid value: ") ||
						!strings.Contains(err.Error(), rule.Message) {
						t.Errorf("%s on %s:\nwant %s\ngot  %v", change, when, rule.Message, err)
					}
				}
			}
		}
	}
	if known != len(violations) {
		t.Errorf("the CRD has %d rules, the table %d", known, len(violations))
	}
}

// TestASpecThatKeepsTheRulesIsAccepted tries the values next to those that CEL rules refuse.
func TestASpecThatKeepsTheRulesIsAccepted(t *testing.T) {
	live := liveMemcached(t)
	for _, change := range []string{
		`{}`, `{size: null}`, `{extraArgs: []}`, `{placement: {preferredArchitectures: []}}`, `{placement: {topologySpreadConstraints: []}}`,
		`{memory: 16Mi}`, `{memory: 16777216}`, `{memory: "16777216"}`, `{memory: 16777216000m}`, `{memory: 0.015625Gi}`,
		`{memory: 4Ti}`, `{memory: 4398046511104}`, `{memory: 1e9}`, `{memory: 1G}`, `{memory: null}`,
		`{maxItemSize: 512Ki}`, `{maxItemSize: 524288}`, `{maxItemSize: 1Gi}`, `{maxItemSize: 1073741824}`,
		`{rollout: {}}`, `{rollout: {maxUnavailable: 0}}`, `{rollout: {maxUnavailable: 0%}}`,
		`{rollout: {maxSurge: 0, maxUnavailable: 1}}`, `{rollout: {maxSurge: 0%, maxUnavailable: 1%}}`,
		`{rollout: {maxSurge: 1%, maxUnavailable: 0}}`, `{rollout: {maxSurge: null, maxUnavailable: 0}}`,
		`{rollout: {maxSurge: 1000, maxUnavailable: 1000}}`, `{rollout: {maxSurge: 100%, maxUnavailable: 100%}}`,
		`{rollout: {minReadySeconds: 3600, progressDeadlineSeconds: null}}`,
		`{rollout: {minReadySeconds: 0, progressDeadlineSeconds: 1}}`,
		`{rollout: {minReadySeconds: 3600, progressDeadlineSeconds: 3601}}`,
		`{rollout: {minReadySeconds: null, progressDeadlineSeconds: 86400}}`, `{updatePolicy: null}`, `{agent: {}}`, `{commonMetadata: {}}`,
		`{disruption: {maxUnavailable: 0}}`, `{disruption: {maxUnavailable: 1000}}`, `{disruption: {maxUnavailable: 0%}}`,
		`{disruption: {maxUnavailable: 100%}}`, `{podTemplate: {metadata: {annotations: {app: x}}}}`,
		`{service: {metadata: {annotations: {memcached_cr: x}}}}`, `{commonMetadata: {annotations: {app: x}}}`,
		`{service: {ipFamilies: [IPv6]}}`, `{service: {ipFamilyPolicy: SingleStack, ipFamilies: [IPv6]}}`,
		`{service: {ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv6, IPv4]}}`, `{service: {ipFamilies: []}}`,
		`{service: {ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4]}}`, `{tls: {secretName: a, minVersion: VersionTLS13}}`,
		`{tls: {secretName: a, minVersion: VersionTLS12, cipherSuites: [ECDHE-RSA-AES256-SHA]}}`,
	} {
		for when, err := range tryOut(t, live, change) {
			if err != nil {
				t.Errorf("%s on %s: %v", change, when, err)
			}
		}
	}
}
func TestANameThatCanNotNameAServiceIsRefused(t *testing.T) {
	const fix = `use at most 63 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen`
	for name, taken := range map[string]bool{
		"a": true, "a-1": true, strings.Repeat("a", 63): true,
		"1cache": false, "my.cache": false, strings.Repeat("a", 64): false,
	} {
		err := cluster.Create(t.Context(), memcachedObject(t, name, `{}`), client.DryRunAll)
		want := `metadata.name "` + name + `" can not name a Service: ` + fix
		if taken != (err == nil) || !taken && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tryOut does the same as try, with a spec in YAML.
func tryOut(t *testing.T, live client.Object, spec string) map[string]error {
	t.Helper()
	return try(t, live, memcachedObject(t, "cache", spec).Object["spec"].(map[string]any))
}

// try sends dry-run requests to create a Memcached with the spec, and to update the live one to it, and returns the API
// server's errors.
func try(t *testing.T, live client.Object, spec map[string]any) map[string]error {
	t.Helper()
	object := memcachedObject(t, "cache", "{}")
	object.Object["spec"] = spec
	patch, err := json.Marshal([]any{map[string]any{"op": "replace", "path": "/spec", "value": spec}})
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

// liveMemcached creates a Memcached.
func liveMemcached(t *testing.T) client.Object {
	t.Helper()
	object := memcachedObject(t, "", `{}`)
	object.SetGenerateName("validation-")
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func memcachedObject(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &values); err != nil {
		t.Fatalf("%v in %s", err, spec)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cache.example.com/v1", "kind": "Memcached", "spec": values,
	}}
	object.SetNamespace("default")
	object.SetName(name)
	return object
}
