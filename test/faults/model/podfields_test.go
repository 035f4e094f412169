package model

import (
	"testing"

	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestWhichChangeOfASpecReplacesThePods(t *testing.T) {
	tests := map[string]struct {
		before, after string
		want          bool
	}{
		"another number of threads":  {"threads: 2", "threads: 3", true},
		"the default is written out": {"{}", "{threads: 4, memory: 64Mi, metrics: {mode: Enabled}}", false},
		"threads that follow the CPUs, written out": {
			"resources: {requests: {cpu: 8}}", "{threads: 8, resources: {requests: {cpu: 8}}}", false,
		},
		"threads that no longer follow the CPUs": {
			"resources: {requests: {cpu: 8}}", "{threads: 4, resources: {requests: {cpu: 8}}}", true,
		},
		"the default in another unit":       {"{}", "memory: 65536Ki", false},
		"another unit":                      {"memory: 1Gi", "memory: 1024Mi", false},
		"another unit inside an object":     {"agent: {resources: {limits: {cpu: '1'}}}", "agent: {resources: {limits: {cpu: 1000m}}}", false},
		"another amount inside an object":   {"agent: {resources: {limits: {cpu: '1'}}}", "agent: {resources: {limits: {cpu: '2'}}}", true},
		"another order of a set":            {"placement: {architectures: [amd64, arm64]}", "placement: {architectures: [arm64, amd64]}", false},
		"another order of arguments":        {"extraArgs: [-v, -B]", "extraArgs: [-B, -v]", true},
		"a field that replaces no Pod":      {"size: 1", "{size: 2, suspend: true, networkPolicy: {mode: Disabled}}", false},
		"such a field inside an object":     {"rollout: {maxSurge: 1}", "rollout: {maxSurge: 2}", false},
		"an empty object":                   {"{}", "{placement: {affinity: {podAffinity: {}}}, resources: {}}", false},
		"TLS":                               {"{}", "tls: {secretName: a}", true},
		"TLS, with a default that is named": {"tls: {secretName: a}", "tls: {secretName: a, clientAuth: None}", false},
		"slots":                             {"{}", "slots: {}", true},
		"another mode of slots":             {"slots: {}", "slots: {mode: ClusterIP, handoff: {mode: Never}}", false},
		"the ServiceAccount of the default": {"{}", "podTemplate: {serviceAccountName: default}", false},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			if got := fieldsIn(t, tc.before) != fieldsIn(t, tc.after); got != tc.want {
				t.Errorf("%s -> %s: replaces the Pods %t, want %t", tc.before, tc.after, got, tc.want)
			}
		})
	}
}

func fieldsIn(t *testing.T, spec string) string {
	t.Helper()
	mc := &cachev1.Memcached{}
	if err := yaml.UnmarshalStrict([]byte(spec), &mc.Spec); err != nil {
		t.Fatal(err)
	}
	return podFields(mc)
}
