package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// oldest is the oldest Kubernetes that the operator supports.
var oldest = version.MajorMinor(1, 30)

// checkCluster connects to the API server, and finds the architectures of the Nodes.
func (d *demo) checkCluster(ctx context.Context, kubeContext string) result {
	var err error
	if d.Connection, err = pipeline.Connect("", kubeContext); err != nil {
		return fail(err.Error(), "make sure that `kubectl version` reaches the cluster")
	}
	if d.Context == "" { // Without a kubeconfig, client-go connects to the cluster of its Pod.
		return fail("the kubeconfig has no current context", "choose one of `kubectl config get-contexts` by --context")
	}
	found := fmt.Sprintf("context %s, %s, Kubernetes %s", d.Context, d.Config.Host, d.Version.GitVersion)
	has, err := version.ParseGeneric(d.Version.GitVersion)
	if err != nil || has.LessThan(oldest) {
		return fail(found, fmt.Sprintf("use a cluster of Kubernetes %s or newer", oldest))
	}
	nodes := &corev1.NodeList{}
	if err := d.Client.List(ctx, nodes); err != nil {
		return missingRight(err, "list Nodes")
	}
	architectures, err := d.chooseArchitecture(nodes.Items)
	if err != nil {
		return fail(found+"\nNodes: "+architectures, err.Error())
	}
	return pass("%s\nNodes: %s; the operator and caches run on %s", found, architectures,
		strings.Join(d.Architectures, " or "))
}

// chooseArchitecture sets the architectures to build and install for, and returns a text with the architectures of the
// Nodes.
func (d *demo) chooseArchitecture(nodes []corev1.Node) (found string, err error) {
	count := map[string]int{}
	for _, node := range nodes {
		if schedulable(node) {
			count[node.Status.NodeInfo.Architecture]++
		}
	}
	for _, architecture := range slices.Sorted(maps.Keys(count)) {
		found += fmt.Sprintf("%d of %s ", count[architecture], architecture)
	}
	d.Architectures = slices.DeleteFunc(oci.Architectures(), func(a string) bool {
		isOther := d.Architecture != "" && d.Architecture != values.Multiarch && d.Architecture != a
		return count[a] == 0 || isOther
	})
	switch {
	case len(d.Architectures) == 0:
		err = fmt.Errorf("the demo needs a Linux Node that accepts Pods without a toleration, and that has one of these "+
			"architectures: %s", cmp.Or(d.Architecture, strings.Join(oci.Architectures(), ", ")))
	case d.Architecture == "" && len(d.Architectures) == 1:
		d.Architecture = d.Architectures[0]
	case d.Architecture == "":
		d.Architecture = values.Multiarch
	}
	return cmp.Or(strings.TrimSpace(found), "no Linux Node accepts Pods without a toleration"), err
}

func schedulable(node corev1.Node) bool {
	tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule
	})
	return !tainted && !node.Spec.Unschedulable && node.Status.NodeInfo.OperatingSystem == "linux"
}

// checkRegistry starts an upload of each image, and cancels it.
func (d *demo) checkRegistry(context.Context) result {
	host, _, _ := strings.Cut(d.Registry, "/")
	for _, image := range d.Refs() {
		ref, err := name.ParseReference(image)
		if err == nil {
			err = remote.CheckPushPermission(ref, authn.DefaultKeychain, remote.DefaultTransport)
		}
		if err != nil {
			return fail(fmt.Sprintf("%s cannot be pushed: %v", image, err), fmt.Sprintf("log in with the right to push: "+
				"docker login %s (or podman login); create the repository\nfirst if the registry requires it, as ECR does; "+
				"`curl -v %[1]s/v2/` shows which server answers", host))
		}
	}
	hostname, _, _ := strings.Cut(host, ":")
	if hostname == "localhost" || net.ParseIP(hostname).IsLoopback() {
		return warn(d.Registry+" accepts images", host+" must be the same registry on the Nodes; the demo cannot check this")
	}
	return pass("%s accepts images; Nodes must be able to pull them (docs/install.md, A private registry)", d.Registry)
}

// checkGit clones the branch, and finds what a commit would change. It does not find out whether the user may push:
// only a push shows that.
func (d *demo) checkGit(ctx context.Context, clone string) result {
	git, err := pipeline.Open(ctx, d.Repo, d.Revision, clone)
	if err != nil {
		return fail(err.Error(), "git must be able to read --repo and --revision without a prompt for a password")
	}
	if err := d.Replace(clone); err != nil {
		return fail(err.Error(), "run this in a complete work tree of this repository")
	}
	if d.Changes, err = git.Stage(ctx, ""); err != nil {
		return fail(err.Error(), "git must be able to commit in a clone of --repo")
	}
	if git.New {
		d.Git = git
		return pass("%s, new branch %s", d.Repo, d.Revision)
	}
	replaced, err := git.Stage(ctx, "MD")
	replaced = slices.DeleteFunc(replaced, func(path string) bool { return path == values.Path })
	if d.Method.ByOLM() {
		replaced = append(replaced, "bundle/")
	}
	if err != nil || len(replaced) > 0 && !strings.Contains(git.Message(ctx), trailer) {
		return fail(fmt.Sprintf("the commit would replace files of %s: %s", d.Revision, strings.Join(replaced, ", ")),
			"name a new branch by --revision, or check out "+d.Revision+" first")
	}
	d.Git = git
	return pass("%s, on top of the branch %s", d.Repo, d.Revision)
}
