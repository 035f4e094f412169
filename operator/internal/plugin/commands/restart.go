package commands

// The command restart.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// restartedAt is the annotation that kubectl rollout restart sets, and that the operator does not change.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

func newRestart(p *plugin) *cobra.Command {
	options := &changeOptions{}
	command := &cobra.Command{
		Use:   "restart NAME",
		Short: "Replace all Pods of a cache, one after another",
		Long: "Replaces all Pods of a cache, at the pace of spec.rollout, as kubectl rollout restart does. With slots, " +
			"each new Pod\ngets the keys of the one that it replaces; without, all keys are lost.",
		Example:           "  kubectl memcached restart sessions -n team\n  kubectl memcached restart sessions --yes",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			return p.restart(command.Context(), names[0], *options)
		},
	}
	options.addFlags(command)
	return command
}

// restart changes an annotation of the Pod template.
func (p *plugin) restart(ctx context.Context, name string, options changeOptions) error {
	patchOptions, err := options.patchOptions()
	if err != nil {
		return err
	}
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	mc, err := cluster.Memcached(ctx, key)
	if err != nil {
		return err
	}
	deployment := &appsv1.Deployment{}
	if err := cluster.Get(ctx, key, deployment); err != nil {
		return fmt.Errorf("read the Deployment of Memcached %s: %w", key, err)
	}
	if err := restartable(mc, deployment); err != nil {
		return err
	}
	if err := p.confirm(ctx, options, restartQuestion(mc)); err != nil {
		return err
	}
	if err := cluster.Patch(ctx, deployment, types.StrategicMergePatchType, restartPatch(p.screen.Now),
		patchOptions); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "deployment.apps/%s %s\n", name, options.done("restarted"))
	return nil
}

// restartable returns an error if a restart would not end.
func restartable(mc *cachev1.Memcached, deployment *appsv1.Deployment) error {
	switch {
	case !metav1.IsControlledBy(deployment, mc):
		return fmt.Errorf("the Memcached does not own Deployment %s/%s: see kubectl memcached why %s -n %s",
			mc.Namespace, mc.Name, mc.Name, mc.Namespace)
	case mc.Spec.Suspend:
		return fmt.Errorf("spec.suspend of Memcached %s/%s is true, so new Pods would get no slot: "+
			"run kubectl memcached resume %s -n %s first", mc.Namespace, mc.Name, mc.Name, mc.Namespace)
	case deployment.Spec.Paused:
		return fmt.Errorf("the Deployment %s/%s is paused: run kubectl rollout resume deployment %s -n %s first",
			mc.Namespace, mc.Name, mc.Name, mc.Namespace)
	}
	return nil
}

// restartQuestion states what a restart does to the keys.
func restartQuestion(mc *cachev1.Memcached) string {
	keys := "and all keys are lost."
	if len(mc.Status.Slots) > 0 && mc.Spec.Slots != nil && plan.HandsOver(mc.Spec) {
		keys = "and each new one copies the keys of the one that it replaces."
	}
	return fmt.Sprintf("All Pods of %s/%s will be replaced, one after another, %s", mc.Namespace, mc.Name, keys)
}

func restartPatch(now time.Time) []byte {
	metadata := map[string]any{"annotations": map[string]any{restartedAt: now.Format(time.RFC3339)}}
	template := map[string]any{"template": map[string]any{"metadata": metadata}}
	content, err := json.Marshal(map[string]any{"spec": template})
	if err != nil {
		panic(err) // The patch consists of texts only.
	}
	return content
}
