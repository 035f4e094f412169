package crd

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// right is the decision that the operator may use these verbs on a resource.
type right struct {
	resource, verbs string
	of              string // the only feature that needs it: slots, or bindings; empty if every cache needs it
	why             string // what the operator does with it
	allows          string // what else the right would allow
	test            string // a test that fails without the right, or shows what the operator does with it
}

const managed = "a managed object. The operator changes only owned ones"

// rights are all that the operator's roles allow, in the order of the table.
var rights = []right{
	{resource: "memcacheds", verbs: "get list watch", why: "the desired state", allows: "nothing",
		test: "TestANewMemcachedBecomesReadyWithItsPodsInTheStatus"},
	{resource: "memcacheds/status", verbs: "patch", why: "the status", allows: "to report anything of any Memcached",
		test: "TestANewMemcachedBecomesReadyWithItsPodsInTheStatus"},
	{resource: "memcacheds/finalizers", verbs: "update", why: "owner references that block the deletion of their owner, which OpenShift " +
		"allows only with it", allows: "nothing", test: "TestAnOwnerReferenceNeedsARightOnFinalizersWhereThatIsEnforced"},
	{resource: "deployments", verbs: "get list watch create patch", why: managed,
		allows: "to run any image, with any ServiceAccount and Secret of a namespace that it serves", test: "TestOwnershipConflictLeavesTheObjectAsItIs"},
	{resource: "services", verbs: "get list watch create patch", why: "the same", allows: "to direct the clients of any Service elsewhere",
		test: "TestOwnershipConflictLeavesTheObjectAsItIs"},
	{resource: "networkpolicies", verbs: "get list watch create patch delete", why: managed + ". One that is no longer desired is deleted",
		allows: "to open or close the ports of any Pod", test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{resource: "poddisruptionbudgets", verbs: "get list watch create patch delete", why: "the same", allows: "to hold up drains, or let them pass",
		test: "TestEveryFieldReachesTheClusterAndLeavesItAgain"},
	{resource: "pods", verbs: "list watch", why: "whether Pods are ready, or why not", allows: "to read the spec of any Pod",
		test: "TestPodsNotReadyNamesTheCause"},
	{resource: "secrets", verbs: "get list watch", why: "it reads the Secrets that a Memcached names, and watches the metadata of Secrets for changes, " +
		"from when a Memcached first names one. Kubernetes has no right for metadata alone", allows: "to read any Secret", test: "TestSecretsCostOneReadEach"},
	{resource: "events", verbs: "create patch", why: "events of Memcacheds and of the leader election", allows: "to report anything of any object", test: "TestEventsReportChangesOnceEach"},
	{resource: "leases", verbs: "create get update", why: "the leader election, in the operator's own namespace", allows: "to create other Leases there",
		test: "TestOfTwoOperatorsOneWorksAndTheOtherTakesOver"},
	{resource: "nodes", verbs: "list", why: "the architectures of the Nodes, while a Pod is unschedulable: at most once a minute, and only metadata. Not in an " +
		"install for some namespaces", allows: "to read the spec of any Node", test: "TestNodesAreListedOnlyWhenNeeded"},
	{resource: "apiservices", verbs: "list watch", why: "whether the cluster becomes an OpenShift; only `v1.security.openshift.io`. Not in an install for some " +
		"namespaces", allows: "nothing", test: "TestThePlatformFollowsTheAPIsOfOpenShiftWhileTheOperatorRuns"},
	{resource: "tokenreviews", verbs: "create", why: "who reads its metrics. Not in an install for some namespaces", allows: "to try tokens",
		test: "TestMetricsAreForThoseWhoMayReadThem"},
	{resource: "subjectaccessreviews", verbs: "create", why: "whether that reader may. Not in an install for some namespaces", allows: "to ask what others may do",
		test: "TestMetricsAreForThoseWhoMayReadThem"},
	{resource: "certificates", verbs: "get list watch create patch delete", why: "a managed object of caches with `tls.issuerRef`. One that is no longer " +
		"desired is deleted", allows: "to have any issuer write a certificate with any name into any Secret", test: "TestACacheWithAnIssuerRequestsItsCertificate"},
	{resource: "memcachedsnapshots", verbs: "get list watch", why: "which snapshots are desired", allows: "nothing",
		test: "TestASnapshotOfACacheWithSlotsIsSavedOnce"},
	{resource: "memcachedsnapshots/status", verbs: "patch", why: "their status", allows: "to report anything of any MemcachedSnapshot",
		test: "TestASnapshotOfACacheWithSlotsIsSavedOnce"},
	{resource: "jobs", verbs: "get list watch create patch delete", why: "the Job that saves or restores a cache. The operator creates it, by an apply that changes no " +
		"other one, never changes it, and deletes that of a restore which the spec no longer requests", allows: "to run any image, as it can already by a Deployment", test: "TestASnapshotTakesOverNoOtherJob"},
	{resource: "pods", verbs: "get patch", of: "slots", why: "its instruction to the agent, the deletion cost, and the servers for clients with auto " +
		"discovery, are annotations and a label of the Pod. It reads a Pod that has a slot and is not cached", allows: "to change labels and images of any Pod, as it can already by a Deployment", test: "TestAHandoffThatCannotSucceedEndsInACacheThatServes"},
	{resource: "pods/status", verbs: "patch", of: "slots", why: "the readiness gate: only a Pod with a slot is ready", allows: "to make any Pod look ready, or not",
		test: "TestANewCacheWithSlotsGivesEachPodOne"},
	{resource: "pods/resize", verbs: "patch", of: "slots", why: "the memory of running Pods, with `rollout.memoryChange: Resize`",
		allows: "to change requests and limits of any Pod, as it can already by a Deployment", test: "TestMemoryChangesInTheRunningPods"},
	{resource: "replicasets", verbs: "list watch", of: "slots", why: "which one a rollout scales up; their metadata only", allows: "to read the Pod template of any " +
		"ReplicaSet, as it can already that of a Deployment", test: "TestAHandoffThatCannotSucceedEndsInACacheThatServes"},
	{resource: "endpointslices", verbs: "get list watch create patch delete", of: "slots", why: "which Pod has which slot", allows: "to direct the clients of any " +
		"Service elsewhere", test: "TestAHandoffThatCannotSucceedEndsInACacheThatServes"},
	{resource: "services", verbs: "delete", of: "slots", why: "the Services of slots and of discovery that are no longer desired", allows: "to delete any Service",
		test: "TestTurningSlotsOffRemovesTheirObjects"},
	{resource: "deployments", verbs: "delete", of: "slots", why: "that of a bootstrap, once the spec no longer requests one", allows: "to delete " +
		"any Deployment, as it can already stop its Pods", test: "TestACacheIsFilledFromOtherServers"},
	{resource: "secrets", verbs: "create patch delete", of: "bindings", why: "the Secret that `spec.binding` names. The operator changes only owned ones",
		allows: "to create, change and delete any Secret: a token of any ServiceAccount, too", test: "TestABindingFollowsItsSecretsAndShowsNothingOfThem"},
}

// TestEveryRightHasAReason takes the rights from the roles that the manifests bind to the operator's account.
func TestEveryRightHasAReason(t *testing.T) {
	want := map[string][]string{}
	for _, r := range rights {
		want[r.resource] = append(want[r.resource], strings.Fields(r.verbs)...)
	}
	for _, verbs := range want {
		slices.Sort(verbs)
	}
	if diff := cmp.Diff(want, operatorRights(t)); diff != "" {
		t.Errorf("add to the table why the operator needs a right, what else it allows, and a test (-table +roles):\n%s", diff)
	}
}

// operatorRights are the verbs of each resource that the operator's account may use.
func operatorRights(t *testing.T) map[string][]string {
	t.Helper()
	objects, err := kustomize.Objects(repository + "/internal/testing/install/everything")
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]bool{}
	for _, object := range objects {
		if strings.HasSuffix(object.GetKind(), "RoleBinding") {
			binding := decode[rbacv1.RoleBinding](t, object)
			isOperator := slices.ContainsFunc(binding.Subjects, func(s rbacv1.Subject) bool {
				return s.Name == "memcached-operator-controller-manager"
			})
			bound[binding.RoleRef.Kind+"/"+binding.RoleRef.Name] = isOperator
		}
	}
	verbs := map[string]map[string]bool{}
	for _, object := range objects {
		if !bound[object.GetKind()+"/"+object.GetName()] {
			continue
		}
		for _, rule := range decode[rbacv1.Role](t, object).Rules {
			for _, resource := range rule.Resources {
				if verbs[resource] == nil {
					verbs[resource] = map[string]bool{}
				}
				for _, verb := range rule.Verbs {
					verbs[resource][verb] = true
				}
			}
		}
	}
	found := map[string][]string{}
	for resource, set := range verbs {
		found[resource] = slices.Sorted(maps.Keys(set))
	}
	return found
}

func decode[T any](t *testing.T, object *unstructured.Unstructured) (decoded T) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestTheDocsHaveTheReasonOfEachRight(t *testing.T) {
	const head = "| right | for | what else it allows | test |\n| --- | --- | --- | --- |\n"
	files, tables := testFiles(t), map[string]string{"": head, "slots": head, "bindings": head}
	for _, r := range rights {
		file := files[r.test]
		if file == "" {
			t.Errorf("%s: there is no test %s", r.resource, r.test)
		}
		tables[r.of] += fmt.Sprintf("| %s: %s | %s | %s | [%s](../%s) |\n",
			r.resource, strings.Join(strings.Fields(r.verbs), ", "), r.why, r.allows, filepath.Base(file), file)
	}
	page.Tables(t, repository+"/docs/security.md", *update, map[string]string{
		"rights": tables[""], "rights of slots": tables["slots"], "rights of bindings": tables["bindings"],
	})
}
