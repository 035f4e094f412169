// Package standin is a stand-in for OLM in tests. It reads a bundle from its image, and creates the objects that OLM
// creates from a ClusterServiceVersion: ServiceAccounts, roles, bindings and Deployments. It resolves no dependencies,
// and watches nothing. It proves that a bundle is enough for the operator to work in each install mode, not that OLM
// does the same.
package standin

import (
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// targetNamespaces is the annotation in which OLM writes the namespaces that the operator serves.
const targetNamespaces = "olm.targetNamespaces"

// Installation has the namespace in which an operator is installed, and the namespaces that it serves.
type Installation struct {
	// Namespace is the namespace of the operator.
	Namespace string

	// Targets are the namespaces that the operator serves: only Namespace (OwnNamespace), another one (SingleNamespace),
	// or several (MultiNamespace). No target means all namespaces (AllNamespaces).
	Targets []string
}

// csv has the fields of a ClusterServiceVersion from which objects are created.
type csv struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		Install struct {
			Spec struct {
				Permissions, ClusterPermissions []permission
				Deployments                     []struct {
					Name  string
					Label map[string]string
					Spec  appsv1.DeploymentSpec
				}
			}
		}
	}
}

type permission struct {
	ServiceAccountName string
	Rules              []rbacv1.PolicyRule
}

// Objects returns the objects that OLM creates from a bundle, in an order in which they can be created.
func (in Installation) Objects(files bundle.Files) ([]client.Object, error) {
	var c csv
	if err := yaml.Unmarshal([]byte(files[bundle.CSVFile]), &c); err != nil {
		return nil, fmt.Errorf("%s: %w", bundle.CSVFile, err)
	}
	var objects []client.Object
	accounts := map[string]bool{}
	for i, p := range c.Spec.Install.Spec.Permissions {
		accounts[p.ServiceAccountName] = true
		objects = append(objects, in.namespaced(fmt.Sprintf("%s-%d", c.Metadata.Name, i), p)...)
	}
	for i, p := range c.Spec.Install.Spec.ClusterPermissions {
		accounts[p.ServiceAccountName] = true
		objects = append(objects, in.clusterWide(fmt.Sprintf("%s-%s-cluster-%d", c.Metadata.Name, in.Namespace, i), p)...)
	}
	for name := range accounts {
		objects = append([]client.Object{&corev1.ServiceAccount{ObjectMeta: in.own(name)}}, objects...)
	}
	for _, d := range c.Spec.Install.Spec.Deployments {
		deployment := &appsv1.Deployment{ObjectMeta: in.own(d.Name), Spec: d.Spec}
		deployment.Labels = d.Label
		in.finish(deployment, c.Metadata)
		objects = append(objects, deployment)
	}
	return objects, nil
}

func (in Installation) own(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: in.Namespace, Name: name}
}

// namespaced returns Roles in the operator's namespace and in each target or, without targets, a ClusterRole.
func (in Installation) namespaced(name string, p permission) (objects []client.Object) {
	if len(in.Targets) == 0 {
		p.Rules = append(p.Rules, rbacv1.PolicyRule{ // OLM gives operators of all namespaces this right, too.
			APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "list", "watch"},
		})
		return in.clusterWide(name+"-"+in.Namespace, p)
	}
	seen := map[string]bool{}
	for _, namespace := range append([]string{in.Namespace}, in.Targets...) {
		if seen[namespace] {
			continue
		}
		seen[namespace] = true
		meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
		objects = append(objects,
			&rbacv1.Role{ObjectMeta: meta, Rules: p.Rules},
			&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: roleRef("Role", name), Subjects: in.subjects(p)})
	}
	return objects
}

func (in Installation) clusterWide(name string, p permission) []client.Object {
	meta := metav1.ObjectMeta{Name: name}
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: p.Rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: roleRef("ClusterRole", name), Subjects: in.subjects(p)},
	}
}

func (in Installation) subjects(p permission) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: in.Namespace, Name: p.ServiceAccountName}}
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

// finish adds the annotations of the ClusterServiceVersion, and the target namespaces, to the Pods of a Deployment, as
// OLM does.
func (in Installation) finish(deployment *appsv1.Deployment, csv metav1.ObjectMeta) {
	template := &deployment.Spec.Template
	annotations := map[string]string{}
	maps.Copy(annotations, template.Annotations)
	maps.Copy(annotations, csv.Annotations)
	annotations[targetNamespaces] = strings.Join(in.Targets, ",")
	template.Annotations = annotations
	for i := range template.Spec.Containers {
		env := &template.Spec.Containers[i].Env
		*env = append(*env, corev1.EnvVar{Name: "OPERATOR_CONDITION_NAME", Value: csv.Name})
	}
	deployment.Spec.RevisionHistoryLimit = new(int32(1))
}
