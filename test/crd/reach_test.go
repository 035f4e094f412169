package crd

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

var update = flag.Bool("update", false, "write the tables of the docs again")

// reach is the decision about a field in which the author of a Memcached may name something: an object, a file, a port.
type reach struct {
	field string // the path of the field, or of an object, including all fields below it
	below string // the names of these fields; a new one needs a decision, too
	names string // what the value of the field names
	limit string // why it reaches no further than the author's own rights
	test  string // the test that shows the limit
}

const (
	selector = "key operator values[] matchLabels{key} matchLabels{}"
	ownNodes = "as for the author of any Pod: Pods run on the Nodes that it selects. Reserve Nodes by admission"
)

var reaches = []reach{
	{field: "image", names: "an image", limit: "as for the author of any Pod: runs in a restricted Pod, with no token of the API server unless the spec mounts it",
		test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "imagePullSecrets[].name", names: "Secrets of the same namespace", limit: "the kubelet uses them; neither the Pod nor the operator reads them",
		test: "TestAnAuthorReachesNoObjectOfAnotherNamespace"},
	{field: "extraArgs[]", names: "options of memcached", limit: "those that name a file, a port, a user or a process are refused",
		test: "TestNoArgumentReachesAFileAPortOrAProcess"},
	{field: "resources.limits{key}", names: "resources of a Node, such as a GPU", limit: "as for the author of any Pod: a ResourceQuota limits them",
		test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "resources.requests{key}", names: "the same", limit: "the same", test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "agent.resources.limits{key}", names: "the same", limit: "the same", test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "agent.resources.requests{key}", names: "the same", limit: "the same", test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "placement.nodeSelector", below: "nodeSelector{key} nodeSelector{}", names: "labels of Nodes", limit: ownNodes,
		test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "placement.tolerations", below: "effect key operator value", names: "taints of Nodes", limit: ownNodes,
		test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "placement.affinity.nodeAffinity", below: selector, names: "labels and names of Nodes", limit: ownNodes,
		test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "placement.affinity.podAffinity", below: selector + " matchLabelKeys[] mismatchLabelKeys[] namespaces[] topologyKey",
		names: "Pods of any namespace, by their labels", limit: "the scheduler compares labels, so the author may learn on which Node such a Pod " +
			"runs. A ResourceQuota with the scope CrossNamespacePodAffinity forbids it",
		test: "TestTheAdministratorLimitsWhatAnAuthorNames"},
	{field: "placement.affinity.podAntiAffinity", below: selector + " matchLabelKeys[] mismatchLabelKeys[] namespaces[] topologyKey",
		names: "the same", limit: "the same", test: "TestTheAdministratorLimitsWhatAnAuthorNames"},
	{field: "placement.topologySpreadConstraints",
		below: selector + " matchLabelKeys[] nodeAffinityPolicy nodeTaintsPolicy topologyKey whenUnsatisfiable",
		names: "Pods of the same namespace, labels of Nodes", limit: "the scheduler compares labels", test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "placement.priorityClassName", names: "a PriorityClass", limit: "as for the author of any Pod: the Pods may preempt others. " +
		"A ResourceQuota with the scope PriorityClass forbids it", test: "TestTheAdministratorLimitsWhatAnAuthorNames"},
	{field: "placement.runtimeClassName", names: "a RuntimeClass", limit: "the administrator creates these; others are refused",
		test: "TestPodsNotReadyNamesTheCause"},
	{field: "placement.schedulerName", names: "a scheduler", limit: "without such a scheduler, the Pods stay pending",
		test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "commonMetadata.labels", below: "labels{key} labels{}", names: "labels of the managed objects", limit: "those that the operator and " +
		"the controllers rely on are refused. Other controllers act on the rest as on the author's own objects", test: "TestEveryRuleOfTheSpecRefusesWithItsMessage"},
	{field: "commonMetadata.annotations", below: "annotations{key} annotations{}", names: "annotations of the managed objects", limit: "the same",
		test: "TestEveryRuleOfTheSpecRefusesWithItsMessage"},
	{field: "podTemplate.metadata.labels", below: "labels{key} labels{}", names: "labels of the Pods", limit: "Services, NetworkPolicies and " +
		"PodDisruptionBudgets of the same namespace may select the Pods. Those of other caches do not: `app` and `memcached_cr` are refused",
		test: "FuzzTheNetworkPolicyOfAnySpecIsItsOwn"},
	{field: "podTemplate.metadata.annotations", below: "annotations{key} annotations{}", names: "annotations of the Pods", limit: "one that lifts " +
		"the AppArmor profile is refused. Webhooks and network plugins act on the rest as on the author's own Pods", test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "podTemplate.serviceAccountName", names: "a ServiceAccount of the same namespace", limit: "as for the author of any Pod: " +
		"with `automountServiceAccountToken`, the image of the spec has its rights. An admission policy can forbid it ([above](#who-may-create-memcacheds))",
		test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "podTemplate.dnsConfig", below: "nameservers[] searches[] name value", names: "DNS servers and domains",
		limit: "only the Pods of the author use them", test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{field: "service.metadata.labels", below: "labels{key} labels{}", names: "labels of the Service", limit: "as in `commonMetadata`. The Service is headless, " +
		"without external addresses", test: "TestEveryRuleOfTheSpecRefusesWithItsMessage"},
	{field: "service.metadata.annotations", below: "annotations{key} annotations{}", names: "annotations of the Service", limit: "the same",
		test: "TestEveryRuleOfTheSpecRefusesWithItsMessage"},
	{field: "tls.secretName", names: "a Secret of the same namespace", limit: "the Pods of the author mount it, so the author may read it: " +
		"only if it holds a valid certificate, and is no token and no registry's password. The status contains only the " +
		"end of the certificate, which names of slots and of discovery it does not have, and the names of removed client CAs", test: "TestAnAuthorLearnsNothingOfASecretFromTheStatus"},
	{field: "tls.issuerRef", below: "name kind group", names: "an Issuer of the same namespace, or a ClusterIssuer", limit: "the author gets a certificate " +
		"with the names of the cache's own Services, and of no others. cert-manager writes it into `tls.secretName` only if there is no such Secret, or it wrote " +
		"that for this cache. An approval policy of cert-manager limits it further", test: "TestOwnershipConflictKeepsTheSecretsAndNamesOfOthers"},
	{field: "auth.secretName", names: "a Secret of the same namespace", limit: "the same, if it holds valid users. The status contains " +
		"nothing of it", test: "TestAnAuthorLearnsNothingOfASecretFromTheStatus"},
	{field: "bootstrap.from.servers[]", names: "memcached servers in the network", limit: "as for the author of any Pod: the agent's " +
		"Pod connects to them, and copies and changes keys there. A NetworkPolicy of those servers limits who may", test: "TestACacheIsFilledFromOtherServers"},
	{field: "bootstrap.from.tls.secretName", names: "a Secret of the same namespace", limit: "the agent uses it to connect to the " +
		"servers, and shows nothing of it", test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "bootstrap.from.auth.secretName", names: "the same", limit: "the agent logs in with it at the servers of the spec, " +
		"so the author may read it, as with `auth`: only if it holds valid users", test: "FuzzThePodsOfAnySpecAreRestricted"},
	{field: "bootstrap.from.snapshot.name", names: "a folder of the bucket or the volume", limit: "the name is one folder, without a slash", test: "TestASnapshotIsRestoredOnce"},
	{field: "bootstrap.from.snapshot.url", names: "a bucket", limit: "a Pod reads it with the credentials that the author names", test: "TestASnapshotIsRestoredOnce"},
	{field: "bootstrap.from.snapshot.credentials.secretName", names: "a Secret of the same namespace", limit: "the Pod of a Job has it in its environment, and shows nothing of it", test: "TestThePodsOfSnapshotsAreRestricted"},
	{field: "bootstrap.from.snapshot.credentials.serviceAccountName", names: "a ServiceAccount of the same namespace", limit: "the Pod of a Job has its workload identity, and no token of the API server", test: "TestThePodsOfSnapshotsAreRestricted"},
	{field: "bootstrap.from.snapshot.persistentVolumeClaim.claimName", names: "a PersistentVolumeClaim of the same namespace", limit: "the Pod of a Job mounts it, and reads the folder of the snapshot", test: "TestThePodsOfSnapshotsAreRestricted"},
	{field: "binding.secretName", names: "a Secret of the same namespace", limit: "the operator creates it, with the address of " +
		"the cache and what the Secrets of `tls` and `auth` hold for clients. One that exists stays as it is", test: "TestOwnershipConflictWhereASecretHasTheNameOfTheBinding"},
	{field: "networkPolicy.from", below: selector + " cidr except[]", names: "Pods, namespaces and addresses", limit: "they may connect to the " +
		"Pods of this cache, and to no other", test: "FuzzTheNetworkPolicyOfAnySpecIsItsOwn"},
	{field: "networkPolicy.metricsFrom", below: selector + " cidr except[]", names: "the same", limit: "the same",
		test: "FuzzTheNetworkPolicyOfAnySpecIsItsOwn"},
}

// TestEveryFieldThatNamesSomethingHasADecision takes the fields from the CRD, so that a new one needs a decision.
func TestEveryFieldThatNamesSomethingHasADecision(t *testing.T) {
	used := map[string]bool{}
	for _, leaf := range texts(t) {
		i := slices.IndexFunc(reaches, func(r reach) bool {
			return leaf == r.field || r.below != "" && strings.HasPrefix(leaf, r.field) &&
				slices.Contains(strings.Fields(r.below), leaf[strings.LastIndex(leaf, ".")+1:])
		})
		if i < 0 {
			t.Errorf("the value of spec.%s is any text, so it may name an object, a file or a port: add to the table what "+
				"the author of a Memcached could reach by it, and a test", leaf)
			continue
		}
		used[reaches[i].field] = true
	}
	for _, r := range reaches {
		if !used[r.field] {
			t.Errorf("spec.%s is in the table, but not in the CRD", r.field)
		}
	}
}

// texts returns the fields of spec that accept any text, so not those that are enums, numbers or quantities.
func texts(t *testing.T) []string {
	t.Helper()
	fields, err := Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, field := range fields {
		if strings.HasPrefix(field.Path, "spec.") && strings.Count(field.Path, ".") == 1 && !strings.Contains(field.Path, "[]") {
			all = append(all, textsBelow(strings.TrimPrefix(field.Path, "spec."), field.Schema)...)
		}
	}
	return all
}

func textsBelow(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	var all []string
	if schema.Type == "string" && len(schema.Enum) == 0 {
		all = append(all, path)
	}
	if schema.Items != nil {
		all = append(all, textsBelow(path+"[]", *schema.Items.Schema)...)
	}
	if schema.AdditionalProperties != nil {
		all = append(append(all, path+"{key}"), textsBelow(path+"{}", *schema.AdditionalProperties.Schema)...)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		all = append(all, textsBelow(path+"."+name, schema.Properties[name])...)
	}
	return all
}

func TestTheDocsStateWhatAnAuthorReaches(t *testing.T) {
	var table strings.Builder
	table.WriteString("| field | names | limit | test |\n| --- | --- | --- | --- |\n")
	files := testFiles(t)
	for _, r := range reaches {
		file := files[r.test]
		if file == "" {
			t.Errorf("spec.%s: there is no test %s", r.field, r.test)
		}
		name := strings.NewReplacer("[]", "", "{key}", "").Replace(r.field)
		fmt.Fprintf(&table, "| `%s` | %s | %s | [%s](../%s) |\n", name, r.names, r.limit, filepath.Base(file), file)
	}
	page.Tables(t, repository+"/docs/security.md", *update, map[string]string{"reach": table.String()})
}

// testFiles returns the file of each function in the tests, by the name of the function.
func testFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{"operator", "test"} {
		err := filepath.WalkDir(filepath.Join(repository, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			for line := range strings.Lines(string(content)) {
				if name, _, ok := strings.Cut(strings.TrimPrefix(line, "func "), "("); ok && strings.HasPrefix(line, "func ") {
					files[name], _ = filepath.Rel(repository, path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
