package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

const argoNamespace = "argocd"

// Applications of the tree, the root first.
const (
	RootApplication     = "memcached-root"
	OperatorApplication = "memcached-operator"
	SamplesApplication  = "memcached-samples"
)

// Application is what an Application says of itself.
type Application = argo.Application

// bootstrap is what ApplyRoot applies: the settings of Argo CD, and the root Application of the way without OLM.
var bootstrap = []string{"gitops/bootstrap/argocd/existing", "gitops/bootstrap/direct"}

// ApplyRoot applies the bootstrap folders of the Git repository's work tree, once.
func (c *Chain) ApplyRoot(ctx context.Context) error {
	for _, folder := range bootstrap {
		if err := c.applyFolder(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

func (c *Chain) applyFolder(ctx context.Context, folder string) error {
	objects, err := target.Build(c.Git.Dir, folder)
	if err != nil {
		return err
	}
	for _, object := range objects {
		wanted := client.ApplyConfigurationFromUnstructured(object)
		if err := c.Client.Apply(ctx, wanted, client.FieldOwner("bootstrap"), client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// Application reads an Application. One that is not there yet is neither synced nor healthy.
func (c *Chain) Application(ctx context.Context, name string) (Application, error) {
	application, err := argo.Read(ctx, c.Client, argoNamespace, name)
	if err != nil || application == nil {
		return Application{Name: name, Health: "Missing"}, err
	}
	return *application, nil
}

// WaitHealthy waits until the Applications are synced to a commit and healthy. Update is told of each change.
func (c *Chain) WaitHealthy(
	ctx context.Context, commit string, timeout time.Duration, update func(string), names ...string,
) error {
	var waiting Application
	healthy := func(ctx context.Context) (bool, error) {
		for _, name := range names {
			application, err := c.Application(ctx, name)
			if err != nil {
				return false, err
			}
			if !application.Healthy(commit) {
				waiting = application
				update(application.String())
				return false, nil
			}
		}
		return true, nil
	}
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, timeout, true, healthy)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("after %s, at commit %.7s: %s", timeout, commit, waiting)
	}
	return err
}
