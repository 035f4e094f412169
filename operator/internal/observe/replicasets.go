package observe

// Finds the ReplicaSet that a rollout scales up.

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// ReplicaSetKind is the kind of the objects that run Pods: each ReplicaSet runs the Pods of one Pod template of a
// Deployment.
var ReplicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

// ReplicaSet returns an empty ReplicaSet of which only the metadata is read.
func ReplicaSet() *metav1.PartialObjectMetadata {
	set := &metav1.PartialObjectMetadata{}
	set.SetGroupVersionKind(ReplicaSetKind)
	return set
}

// currentHash returns the pod-template-hash of the ReplicaSet that a Deployment scales up, or "" if that is unknown.
// Until the Deployment controller has observed a change to the Deployment, the former hash is returned. Most changes
// only concern the number of replicas. If the hash were unknown after each such change, the operator would revert that
// number.
func (c Collector) currentHash(ctx context.Context, deployment *appsv1.Deployment) (string, error) {
	if deployment == nil {
		return "", nil
	}
	sets := &metav1.PartialObjectMetadataList{}
	sets.SetGroupVersionKind(ReplicaSetKind.GroupVersion().WithKind(ReplicaSetKind.Kind + "List"))
	of := client.MatchingFields{MemcachedIndex: deployment.Name}
	if err := c.Cache.List(ctx, sets, client.InNamespace(deployment.Namespace), of); err != nil {
		return "", fmt.Errorf("list the ReplicaSets of Deployment %s: %w", deployment.Name, err)
	}
	return hashOfCurrent(deployment, sets.Items), nil
}

// hashOfCurrent returns the hash of the ReplicaSet that has the revision of its Deployment. The hash is unknown if a
// ReplicaSet has a newer revision than the Deployment, which is about to get that revision, too.
func hashOfCurrent(deployment *appsv1.Deployment, sets []metav1.PartialObjectMetadata) string {
	wanted, current := revisionOf(deployment), ""
	for i := range sets {
		set := &sets[i]
		revision := revisionOf(set)
		if !metav1.IsControlledBy(set, deployment) || revision < wanted {
			continue
		}
		if revision > wanted || wanted == 0 || current != "" {
			return ""
		}
		// The hash is read from the name: another client may change the label that also has it.
		current, _ = strings.CutPrefix(set.Name, deployment.Name+"-")
	}
	return current
}

// revisionOf returns the revision of a Deployment or ReplicaSet, from 1; 0 if it has none.
func revisionOf(object metav1.Object) int {
	revision, err := strconv.Atoi(object.GetAnnotations()[names.AnnotationRevision])
	if err != nil {
		return 0
	}
	return revision
}

// ReplicaSetChanged reports whether another ReplicaSet may be the current one after an update of a ReplicaSet.
func ReplicaSetChanged(before, after metav1.Object) bool {
	was, is := metav1.GetControllerOfNoCopy(before), metav1.GetControllerOfNoCopy(after)
	return revisionOf(before) != revisionOf(after) || (was == nil) != (is == nil) || was != nil && was.UID != is.UID
}
