package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

const trackingKey = "application.resourceTrackingMethod"

// settings finds out what Argo CD must be told, and whether somebody has told it otherwise.
func settings(ctx context.Context, s *Subject) Result {
	instance, err := s.instance(ctx)
	switch {
	case err != nil:
		return failed(err.Error(), "ask for the right to list ArgoCD resources in "+s.ArgoCDNamespace)
	case instance != nil:
		return s.instanceSettings(ctx, instance)
	}
	return s.configMapSettings(ctx)
}

// configMapSettings are keys of the ConfigMap that every Argo CD has.
func (s *Subject) configMapSettings(ctx context.Context) Result {
	var err error
	if s.Settings, err = s.render(target.SettingsFolder); err != nil {
		return failed(err.Error(), "make gitops-verify tells more")
	}
	live := &corev1.ConfigMap{}
	if err := s.Kube.Client.Get(ctx, client.ObjectKeyFromObject(s.Settings[0]), live); err != nil {
		return failed(err.Error(), "ask for the right to read ConfigMaps in "+s.ArgoCDNamespace)
	}
	if err := argo.Try(ctx, s.Kube.Client, s.Settings); err != nil {
		return failed(s.conflict(err, fmt.Sprintf("keep yours: take that line out of %s; or take ours: "+
			"remove the key by kubectl -n %s edit configmap argocd-cm", target.SettingsFolder, s.ArgoCDNamespace)))
	}
	data, _, _ := unstructured.NestedStringMap(s.Settings[0].Object, "data")
	added := 0
	for key := range data {
		if live.Data[key] != data[key] {
			added++
		}
	}
	return s.tracking(ctx, live, fmt.Sprintf("%d of our %d keys in argocd-cm are to be set", added, len(data)))
}

// tracking tells of a setting that changes how Argo CD treats all other Applications, too.
func (s *Subject) tracking(ctx context.Context, live *corev1.ConfigMap, found string) Result {
	others, err := s.others(ctx)
	if err != nil {
		return failed(err.Error(), "ask for the right to list Applications in "+s.ArgoCDNamespace)
	}
	if live.Data[trackingKey] == "" && others > 0 && s.tracksByLabel() {
		return warning(found, fmt.Sprintf("%s: annotation is one of them, and concerns %d other Applications, "+
			"which this Argo CD tracks by label so far", trackingKey, others))
	}
	return passed(found)
}

// conflict tells of fields that others have set, and of any other error as it is.
func (s *Subject) conflict(err error, remedy string) (found, whatToDo string) {
	var conflict *argo.Conflict
	switch {
	case errors.As(err, &conflict):
		return fmt.Sprintf("%s is set already, to something else: %s", conflict.Object,
			strings.Join(conflict.Fields, ", ")), remedy
	case apierrors.IsForbidden(err):
		return err.Error(), "ask for that right"
	}
	return err.Error(), "make gitops-verify, and the message of the API server"
}

// tracksByLabel: Argo CD did so by itself until 3.0. Of an unknown version it is assumed.
func (s *Subject) tracksByLabel() bool {
	has, err := version.ParseGeneric(s.ArgoCDVersion)
	return err != nil || has.LessThan(version.MajorMinor(3, 0))
}

// others counts the Applications that are not the tree's.
func (s *Subject) others(ctx context.Context) (n int, err error) {
	applications, err := s.list(ctx, argo.ApplicationKind, client.InNamespace(s.ArgoCDNamespace))
	for _, application := range applications {
		if application.Labels["app.kubernetes.io/part-of"] != "memcached-operator" {
			n++
		}
	}
	return n, err
}

// instance is the ArgoCD resource that argocd-operator makes Argo CD of, or nil. Its settings are there: the operator
// takes back what is changed in argocd-cm.
func (s *Subject) instance(ctx context.Context) (*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(argoCDKind)
	err := s.Kube.Client.List(ctx, list, client.InNamespace(s.ArgoCDNamespace))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || err == nil && len(list.Items) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &list.Items[0], nil
}

// instanceSettings are the two fields of the tree's own ArgoCD resource that the Applications need.
func (s *Subject) instanceSettings(ctx context.Context, live *unstructured.Unstructured) Result {
	wanted, err := s.wantedOf(live.GetName())
	if err != nil {
		return failed(err.Error(), "make gitops-verify tells more")
	}
	name := "ArgoCD " + live.GetName()
	if has(live, wanted) {
		return passed(name + " has all of them")
	}
	if err := argo.Try(ctx, s.Kube.Client, []*unstructured.Unstructured{wanted}); err != nil {
		return failed(s.conflict(err, fmt.Sprintf("add what kubectl kustomize %s shows under resourceHealthChecks to %s, "+
			"beside yours: kubectl -n %s edit argocd %s", target.InstanceFolder, name, s.ArgoCDNamespace, live.GetName())))
	}
	s.Settings = []*unstructured.Unstructured{wanted}
	return passed(name + " is to be given health checks and tracking by annotation")
}

// wantedOf is what is to be applied to an ArgoCD resource.
func (s *Subject) wantedOf(name string) (*unstructured.Unstructured, error) {
	objects, err := s.render(target.InstanceFolder)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == argoCDKind.Kind })
	if i < 0 {
		return nil, fmt.Errorf("%s has no %s", target.InstanceFolder, argoCDKind.Kind)
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{}}
	wanted.SetGroupVersionKind(argoCDKind)
	wanted.SetNamespace(s.ArgoCDNamespace)
	wanted.SetName(name)
	for _, field := range []string{"resourceTrackingMethod", "resourceHealthChecks"} {
		value, _, err := unstructured.NestedFieldCopy(objects[i].Object, "spec", field)
		if err != nil {
			return nil, err
		}
		if err := unstructured.SetNestedField(wanted.Object, value, "spec", field); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// has tells whether an ArgoCD resource has all settings of another, and be it among others.
func has(live, wanted *unstructured.Unstructured) bool {
	tracking, _, _ := unstructured.NestedString(live.Object, "spec", "resourceTrackingMethod")
	there, _, _ := unstructured.NestedSlice(live.Object, "spec", "resourceHealthChecks")
	checks, _, _ := unstructured.NestedSlice(wanted.Object, "spec", "resourceHealthChecks")
	missing := slices.ContainsFunc(checks, func(check any) bool {
		return !slices.ContainsFunc(there, func(other any) bool { return equality.Semantic.DeepEqual(check, other) })
	})
	return !missing && (tracking == "" || tracking == "annotation") // which is the operator's default
}
