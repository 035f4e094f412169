package integration

import (
	"sync"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/docs"
)

// fluxHealth is the health check that docs/flux.md gives to Flux.
var fluxHealth = sync.OnceValues(func() (*cel.StatusEvaluator, error) { return docs.FluxHealth(repository) })

// assertContract checks that kstatus' own library, and the health checks of Flux and Argo CD, find the state that the
// conditions of a status report. A rule of the fault campaign checks that the conditions follow the conventions of
// kstatus.
func assertContract(t *testing.T, mc *cachev1.Memcached) {
	t.Helper()
	conditions := mc.Status.Conditions
	reconciling := meta.FindStatusCondition(conditions, cachev1.ConditionReconciling)
	stalled := meta.FindStatusCondition(conditions, cachev1.ConditionStalled)
	want, wantArgo := status.CurrentStatus, "Healthy"
	switch {
	case stalled != nil:
		want, wantArgo = status.FailedStatus, "Degraded"
	case reconciling != nil:
		want, wantArgo = status.InProgressStatus, "Progressing"
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(mc)
	if err != nil {
		t.Fatal(err)
	}
	content["apiVersion"], content["kind"] = cachev1.GroupVersion.String(), "Memcached"
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil || result.Status != want {
		t.Errorf("kstatus says %v (%v), want %s", result, err, want)
	}
	health, err := fluxHealth()
	if err != nil {
		t.Fatal(err)
	}
	result, err = health.Evaluate(t.Context(), &unstructured.Unstructured{Object: content})
	if err != nil || result.Status != want {
		t.Errorf("Flux's health check says %v (%v), want %s", result, err, want)
	}
	if got := argoHealth(t, content); got != wantArgo {
		t.Errorf("Argo CD's health check says %s, want %s", got, wantArgo)
	}
}

// argoHealth runs the Lua health check that gitops/ configures in Argo CD, in the same version of Lua.
func argoHealth(t *testing.T, object map[string]any) string {
	t.Helper()
	content := page.Read(t, repository+"/gitops/bootstrap/argocd/existing/argocd-cm.yaml")
	var argoCD corev1.ConfigMap
	if err := yaml.Unmarshal([]byte(content), &argoCD); err != nil {
		t.Fatal(err)
	}
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, object))
	if err := state.DoString(argoCD.Data["resource.customizations.health.cache.example.com_Memcached"]); err != nil {
		t.Fatal(err)
	}
	return state.Get(-1).(*lua.LTable).RawGetString("status").String()
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, field := range value {
			table.RawSetString(key, luaValue(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case int64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	}
	return lua.LNil
}
