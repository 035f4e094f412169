// Package site is a local cluster that runs Pods, with the images of the working tree and an operator that was deployed
// with slots.
package site

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// Up brings a cluster up, and installs what the machine lacks for that and for the image of memcached.
func Up(ctx context.Context, options local.Options) (*pipeline.Pipeline, error) {
	options.Needs = preflight.Memcached()
	cluster, err := local.Up(ctx, options)
	if err != nil {
		return nil, err
	}
	return pipeline.New(ctx, cluster)
}

// Deploy deploys an overlay with slots, or replaces the operator that is there, as a user does.
func Deploy(ctx context.Context, p *pipeline.Pipeline, overlay string, images pipeline.Images) error {
	dir, err := withSlots(p.Root, overlay)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	deploy := exec.CommandContext(ctx, "go", "run", "./scripts/deploy", "apply", dir, "--kubeconfig="+p.Cluster.Kubeconfig,
		"--set-image=memcached-operator="+images.Operator, "--set-image=memcached-agent="+images.Agent,
		"--set-image=memcached="+images.Memcached)
	deploy.Dir = p.Root
	if out, err := deploy.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", deploy, err, out)
	}
	return nil
}

// withSlots writes a kustomization of an overlay and the component for slots.
func withSlots(root, overlay string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "overlay-")
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(dir, root)
	if err != nil {
		return "", err
	}
	content := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
		"resources: [%[1]s/overlays/%[2]s]\ncomponents: [%[1]s/overlays/components/slots]\n", relative, overlay)
	return dir, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(content), 0o600)
}

// PushImages builds all images of the working tree and pushes them.
func PushImages(
	ctx context.Context, p *pipeline.Pipeline, version string, update func(string),
) (pipeline.Images, error) {
	programs, err := pipeline.Build(ctx, p.Root, version, p.Architectures, update)
	if err != nil {
		return pipeline.Images{}, err
	}
	return p.Push(ctx, programs, update)
}

// PushOperator builds the operator's image of the working tree and pushes it.
func PushOperator(ctx context.Context, p *pipeline.Pipeline, version string) (string, error) {
	return PushProgram(ctx, p, "memcached-operator", version, oci.Operator(p.Root, version))
}

// PushProgram builds a program's image and pushes it.
func PushProgram(
	ctx context.Context, p *pipeline.Pipeline, name, tag string, program oci.Program,
) (string, error) {
	indexes, err := oci.BuildAll(ctx, oci.PlatformsOf(p.Architectures), func(string) {}, program)
	if err != nil {
		return "", err
	}
	return oci.Push(ctx, indexes[0], p.Registry+"/"+name+":"+tag)
}

// RunClient runs the client in a new Pod.
func RunClient(
	ctx context.Context, p *pipeline.Pipeline, namespace, image string, args ...string,
) (clientpod.Keys, error) {
	clients := clientpod.Clients{Kube: p.Client, Config: p.Config, Namespace: namespace, Image: image}
	return clients.Run(ctx, func(string) {}, args...)
}
