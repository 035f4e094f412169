package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

// newDemo is a demo on a cluster of these objects.
func newDemo(t *testing.T, method pipeline.Method, objects ...client.Object) *demo {
	t.Helper()
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{console: console{Out: io.Discard}, Pipeline: &pipeline.Pipeline{Root: root, Target: pipeline.Target{
		Method: method, Revision: pipeline.Branch, ArgoCDNamespace: "argocd", Architecture: "amd64",
		Registry: "registry.example.org/team", Repo: "https://git.example.org/team/x.git",
	}}}
	d.Client = fake.NewClientBuilder().WithObjects(objects...).WithIndex(&appsv1.Deployment{}, "metadata.name",
		func(o client.Object) []string { return []string{o.GetName()} }).Build()
	return d
}

func expect(t *testing.T, got result, want status, words ...string) {
	t.Helper()
	text := got.Found + "\n" + got.Fix
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("lacks %q:\n%s", word, text)
		}
	}
	if got.Status != want || (got.Fix == "") != (want == passed || want == skipped) {
		t.Errorf("%s, want %s:\n%s", got.Status, want, text)
	}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func TestTheCluster(t *testing.T) {
	serve := func(version string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/version" {
				_, _ = w.Write([]byte(`{"gitVersion":"` + version + `"}`))
				return
			}
			w.WriteHeader(http.StatusForbidden)
		}))
		t.Cleanup(server.Close)
		config := clientcmdapi.NewConfig()
		config.Clusters["test"] = &clientcmdapi.Cluster{Server: server.URL}
		config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
		config.CurrentContext = "test"
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		kubeconfig, context string
		words               []string
	}{
		"has no such context": {serve("v1.36.3"), "other", []string{`no context "other"`, "--context"}},
		"has no kubeconfig":   {filepath.Join(t.TempDir(), "none"), "", []string{"KUBECONFIG"}},
		"is too old":          {serve("v1.29.4-eks-036c24b"), "", []string{"context test", "v1.29.4", "1.30 or newer"}},
		"hides its Nodes":     {serve("v1.36.3"), "test", []string{"right to list Nodes"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			expect(t, newDemo(t, pipeline.Direct).checkCluster(t.Context(), tc.context), failed, tc.words...)
		})
	}
}

func TestTheArchitectureIsThatOfTheNodes(t *testing.T) {
	node := func(architecture string) corev1.Node {
		return corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: architecture}}}
	}
	tainted, cordoned, windows := node("amd64"), node("amd64"), node("amd64")
	tainted.Spec.Taints = []corev1.Taint{{Key: "control-plane", Effect: corev1.TaintEffectNoSchedule}}
	cordoned.Spec.Unschedulable = true
	windows.Status.NodeInfo.OperatingSystem = "windows"
	tests := map[string]struct {
		nodes  []corev1.Node
		chosen string
		want   string // architecture to install for
		built  string
	}{
		"one":                        {[]corev1.Node{node("arm64"), node("arm64")}, "", "arm64", "arm64"},
		"several":                    {[]corev1.Node{node("s390x"), node("amd64")}, "", "multiarch", "amd64 s390x"},
		"several, and one is chosen": {[]corev1.Node{node("s390x"), node("amd64")}, "s390x", "s390x", "s390x"},
		"one of several is supported": {[]corev1.Node{node("riscv64"), node("amd64")}, "", "amd64",
			"amd64"},
		"none that is chosen":    {[]corev1.Node{node("amd64")}, "arm64", "", ""},
		"none that is supported": {[]corev1.Node{node("riscv64")}, "", "", ""},
		"none for ordinary Pods": {[]corev1.Node{tainted, cordoned, windows}, "", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t, pipeline.Direct)
			d.Architecture = tc.chosen
			_, err := d.chooseArchitecture(tc.nodes)
			if tc.want == "" {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if built := strings.Join(d.Architectures, " "); err != nil || d.Architecture != tc.want || built != tc.built {
				t.Errorf("install for %s, build %s, error %v", d.Architecture, built, err)
			}
		})
	}
}

func TestTheRegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	accepts := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer accepts.Close()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer refuses.Close()
	host := func(server *httptest.Server) string { return strings.TrimPrefix(server.URL, "http://") }
	tests := map[string]struct {
		registry string
		status   status
		words    []string
	}{
		"accepts images on this machine": {host(accepts) + "/team", warning, []string{"accepts images", "must be the same registry on the Nodes"}},
		"refuses them":                   {host(refuses) + "/team", failed, []string{"memcached-operator:demo cannot be pushed", "docker login " + host(refuses)}},
		"does not answer":                {"127.0.0.1:1/team", failed, []string{"connection refused", "curl -v 127.0.0.1:1/v2/"}},
		"has an invalid name":            {"R E", failed, []string{"R E/memcached-operator"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t, pipeline.Direct)
			d.Registry = tc.registry
			expect(t, d.checkRegistry(t.Context()), tc.status, tc.words...)
		})
	}
}

// argoCD is the ConfigMap of an Argo CD, and the Pod of its application controller.
func argoCD(namespace string, ready corev1.ConditionStatus) []client.Object {
	settings := &corev1.ConfigMap{ObjectMeta: named(namespace, "argocd-cm")}
	settings.Labels = map[string]string{"app.kubernetes.io/part-of": "argocd"}
	if ready == "" {
		return []client.Object{settings}
	}
	return []client.Object{settings, &corev1.Pod{
		ObjectMeta: named(namespace, "argocd-application-controller-0"),
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "quay.io/argoproj/argocd:v3.5.7"}}},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}}
}

func TestArgoCD(t *testing.T) {
	several := append(argoCD("one", corev1.ConditionTrue), argoCD("two", corev1.ConditionTrue)...)
	tests := map[string]struct {
		namespace string // by the flag
		objects   []client.Object
		status    status
		words     []string
	}{
		"is not installed":             {"", nil, failed, []string{"no namespace has", "kubectl apply --server-side -k gitops/bootstrap/argocd/operator"}},
		"is not in the namespace":      {"other", several, failed, []string{"no namespace has"}},
		"is installed twice":           {"", several, failed, []string{"one, two", "--argocd-namespace"}},
		"is chosen by its namespace":   {"two", several, passed, []string{"in the namespace two, quay.io/argoproj/argocd:v3.5.7"}},
		"has no controller":            {"", argoCD("argocd", ""), warning, []string{"without an application controller"}},
		"has a controller not ready":   {"", argoCD("argocd", corev1.ConditionFalse), failed, []string{"not ready", "kubectl -n argocd describe pod"}},
		"is ready":                     {"", argoCD("argocd", corev1.ConditionTrue), passed, []string{"in the namespace argocd"}},
		"is ready, by argocd-operator": {"", append(argoCD("argocd", corev1.ConditionTrue), object("argoproj.io/v1beta1", "ArgoCD", "argocd", "gitops")), passed, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t, pipeline.Direct, tc.objects...)
			d.ArgoCDNamespace = tc.namespace
			expect(t, d.checkArgoCD(t.Context()), tc.status, tc.words...)
			if byOperator := strings.Contains(name, "argocd-operator"); byOperator != (d.ArgoCDName == "gitops") {
				t.Errorf("the ArgoCD resource is %q", d.ArgoCDName)
			}
		})
	}
}

func TestTheGitRepository(t *testing.T) {
	run := func(d *demo, branch, message, file string) {
		r, err := pipeline.Open(t.Context(), d.Repo, branch, filepath.Join(t.TempDir(), "clone"))
		if err == nil {
			_, err = r.Commit(t.Context(), message, func(dir string) error {
				if err := d.Replace(dir); err != nil || file == "" {
					return err
				}
				return writeFile(filepath.Join(dir, file), "other")
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const theirs, settings = "gitops/samples/kustomization.yaml", "gitops/settings/settings.yaml"
	tests := map[string]struct {
		method                pipeline.Method
		branch, message, file string // of a commit in the repository
		status                status
		words                 []string
	}{
		"is empty":                     {pipeline.Direct, "", "", "", passed, []string{"new branch memcached-demo"}},
		"has other branches":           {pipeline.Direct, "main", "x", theirs, passed, []string{"new branch memcached-demo"}},
		"has the branch as it is here": {pipeline.Direct, pipeline.Branch, "x", "", passed, []string{"on top of the branch"}},
		"has other settings there":     {pipeline.Direct, pipeline.Branch, "x", settings, passed, []string{"on top of the branch"}},
		"has another file there":       {pipeline.Direct, pipeline.Branch, "x", theirs, failed, []string{theirs, "--revision"}},
		"has a demo's commit there":    {pipeline.Direct, pipeline.Branch, "x\n\n" + trailer, theirs, passed, []string{"on top of the branch"}},
		"has a bundle there, maybe":    {pipeline.OLM, pipeline.Branch, "x", "", failed, []string{"bundle/"}},
		"has a demo's bundle there":    {pipeline.OLM, pipeline.Branch, trailer, "", passed, nil},
		"cannot be read":               {pipeline.Direct, "none", "", "", failed, []string{"git ls-remote"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t, tc.method)
			d.Repo = "file://" + bareRepository(t)
			switch tc.branch {
			case "":
			case "none":
				d.Repo += "/nowhere"
			default:
				run(d, tc.branch, tc.message, tc.file)
			}
			expect(t, d.checkGit(t.Context(), filepath.Join(t.TempDir(), "clone")), tc.status, tc.words...)
			if (d.Git != nil) != (tc.status == passed) {
				t.Errorf("the work tree is %v", d.Git)
			}
		})
	}
}

func TestArgoCDReadsGit(t *testing.T) {
	for repo, tc := range map[string]struct {
		status status
		word   string
	}{
		"file:///x.git":             {warning, "same path"},
		"git@git.example.org:x.git": {warning, "repository Secret in argocd"},
		"http://127.0.0.1:1/x.git":  {warning, "repository Secret in argocd"},
	} {
		d := newDemo(t, pipeline.Direct)
		d.Repo = repo
		expect(t, d.checkGitLogin(t.Context()), tc.status, tc.word)
	}
}

func TestAnOperatorThatIsInstalled(t *testing.T) {
	manager := func(namespace string, labels map[string]string, application string) client.Object {
		m := &appsv1.Deployment{ObjectMeta: named(namespace, "memcached-operator-controller-manager")}
		m.Labels, m.Annotations = labels, map[string]string{"argocd.argoproj.io/tracking-id": application + ":apps/Deployment:x"}
		return m
	}
	v0, v1 := map[string]string{"olm.owner.kind": "ClusterServiceVersion"}, map[string]string{"olm.operatorframework.io/owner-kind": "ClusterExtension"}
	type results map[pipeline.Method]status
	tests := map[string]struct {
		there client.Object
		want  results
		word  string
	}{
		"by nothing":     {&corev1.Pod{ObjectMeta: named("x", "x")}, results{"direct": passed, "olm": passed, "openshift": passed, "olm-v1": passed}, ""},
		"by Argo CD":     {manager("memcached-operator-system", nil, "memcached-operator"), results{"direct": passed, "olm": failed, "openshift": failed, "olm-v1": failed}, "by Argo CD"},
		"by hand":        {manager("memcached-operator-system", nil, ""), results{"direct": warning, "olm": failed, "openshift": failed, "olm-v1": failed}, "by kubectl"},
		"by OLM v0":      {manager("memcached-operator-system", v0, ""), results{"direct": failed, "olm": passed, "openshift": passed, "olm-v1": failed}, "by OLM v0"},
		"by OLM v1":      {manager("memcached-operator-system", v1, ""), results{"direct": failed, "olm": failed, "openshift": failed, "olm-v1": passed}, "by OLM v1"},
		"somewhere else": {manager("elsewhere", nil, "memcached-operator"), results{"direct": failed, "olm": failed, "openshift": failed, "olm-v1": failed}, "runs in elsewhere"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for method, want := range tc.want {
				expect(t, newDemo(t, method, tc.there).checkOperator(t.Context()), want, tc.word)
			}
		})
	}
}

func TestOLM(t *testing.T) {
	crd := func(name, options string) client.Object {
		o := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
		o.SetAnnotations(map[string]string{"argocd.argoproj.io/sync-options": options})
		return o
	}
	const subscriptions, extensions, keep = "subscriptions.operators.coreos.com", "clusterextensions.olm.operatorframework.io", "Prune=false,Delete=false"
	tests := map[string]struct {
		method pipeline.Method
		there  client.Object
		status status
		word   string
	}{
		"is installed by the demo":     {pipeline.OLM, crd("other", ""), passed, "not installed yet"},
		"was installed by the demo":    {pipeline.OLM, crd(subscriptions, keep), passed, "installed"},
		"belongs to the cluster":       {pipeline.OLM, crd(subscriptions, ""), failed, "--method openshift"},
		"is needed":                    {pipeline.OpenShift, crd("other", ""), failed, "--method olm"},
		"is needed, and installed":     {pipeline.OpenShift, crd(subscriptions, ""), passed, "installed"},
		"v1 belongs to the cluster":    {pipeline.OLMv1, crd(extensions, ""), failed, "another method"},
		"v0 does not matter to OLM v1": {pipeline.OLMv1, crd(subscriptions, ""), passed, "not installed yet"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			d := newDemo(t, tc.method)
			d.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.there).Build()
			expect(t, d.checkOLM(t.Context()), tc.status, tc.word)
		})
	}
}

func TestTheObjectsAreTriedOut(t *testing.T) {
	root := func(repo string) *unstructured.Unstructured {
		o := object("argoproj.io/v1alpha1", "Application", "argocd", pipeline.RootApplication)
		o.Object["spec"] = map[string]any{"source": map[string]any{
			"repoURL": repo, "targetRevision": pipeline.Branch, "path": "gitops/apps/overlays/direct",
		}}
		return o
	}
	deleted := root("x")
	deleted.SetFinalizers([]string{"resources-finalizer.argocd.argoproj.io"})
	deleted.SetDeletionTimestamp(new(metav1.Now()))
	configMaps := schema.GroupResource{Resource: "configmaps"}
	tests := map[string]struct {
		root   func(repo string) *unstructured.Unstructured
		answer error // of the API server
		status status
		words  []string
	}{
		"and accepted":                     {nil, nil, passed, []string{"accepts all"}},
		"and accepted again":               {root, nil, passed, nil},
		"and forbidden":                    {nil, apierrors.NewForbidden(configMaps, "argocd-cm", nil), failed, []string{"ConfigMap argocd-cm", "forbidden", "ask for the rights"}},
		"and in conflict":                  {nil, apierrors.NewApplyConflict(nil, `conflict with "helm": .data.x`), failed, []string{`"helm": .data.x`, "gitops/bootstrap"}},
		"unless another demo is installed": {func(string) *unstructured.Unstructured { return root("https://git.example.org/prod.git") }, nil, failed, []string{"prod.git", "kubectl -n argocd delete application memcached-root"}},
		"unless one is being deleted":      {func(string) *unstructured.Unstructured { return deleted }, nil, failed, []string{"being deleted", "wait"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			repo := "file://" + bareRepository(t)
			if tc.root != nil {
				objects = append(objects, tc.root(repo))
			}
			d := newDemo(t, pipeline.Direct, objects...)
			d.Repo = repo
			d.Client = interceptor.NewClient(d.Client, interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
					if applied := (&client.ApplyOptions{}).ApplyOptions(options); len(applied.DryRun) == 0 || applied.Force != nil {
						t.Errorf("applied by %v", applied)
					}
					return tc.answer
				},
			})
			expect(t, d.checkGit(t.Context(), filepath.Join(t.TempDir(), "clone")), passed)
			expect(t, d.checkObjects(t.Context()), tc.status, tc.words...)
		})
	}
}

func TestChecksSkipWhatNeedsAFailedOne(t *testing.T) {
	d := newDemo(t, pipeline.OpenShift)
	ok := func(context.Context) result { return pass("ok") }
	bad := func(context.Context) result { return fail("bad", "repair it:\nkubectl") }
	checks := []check{{"one", "", ok}, {"two", "", bad}, {"three", "two", ok}, {"four", "three", ok}, {"five", "one", ok}}
	var out bytes.Buffer
	d.console.Out = &out
	err := d.check(t.Context(), checks, "text")
	if err == nil || !strings.Contains(err.Error(), "1 of these checks failed") {
		t.Errorf("error %v", err)
	}
	golden(t, "checks.txt", out.String())

	out.Reset()
	if err := d.check(t.Context(), checks, "json"); err == nil {
		t.Error("no error")
	}
	var report struct {
		Checks []result
		Failed int
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	want := result{"two", failed, "bad", "repair it:\nkubectl"}
	if diff := cmp.Diff(want, report.Checks[1]); diff != "" || len(report.Checks) != 5 || report.Failed != 1 {
		t.Errorf("%v (-want +got):\n%s", report, diff)
	}
}
