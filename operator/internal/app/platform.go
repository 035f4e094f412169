package app

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// openShiftGroup is an API group that every OpenShift cluster serves, and no other.
const openShiftGroup = "security.openshift.io"

// memcachedUser returns the user that memcached runs as, or nil on OpenShift, which assigns one itself. Elsewhere
// it must be given: the official image names its user, and the kubelet can check only numbers against
// runAsNonRoot.
func memcachedUser(config *rest.Config) (*int64, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up discovery: %w", err)
	}
	groups, err := client.ServerGroups()
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its API groups: %w", err)
	}
	known := sets.New[string]()
	for _, group := range groups.Groups {
		known.Insert(group.Name)
	}
	if known.Has(openShiftGroup) {
		return nil, nil
	}
	return new(names.UserID), nil
}
