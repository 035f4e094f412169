package plan

// The data that clients need to connect, for the Secret of a binding.

import (
	"fmt"
	"strconv"
	"strings"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// Bound is the data that the Secret of a binding copies from the Secrets that the spec names.
type Bound struct {
	User users.User
	CA   string

	// Versions are the versions of the copied Secrets. They change whenever User or CA changes.
	Versions string
}

// Binding is what clients need to connect.
type Binding struct {
	Bound

	// SecretName is the name of the Secret of the binding.
	SecretName string

	// Kept: the Secret stays as it is, or is not created yet, because the Secrets that it copies cannot be used.
	Kept bool

	Host, Port string

	// Endpoints are the addresses of the slots or, without slots, the address of the cache.
	Endpoints []string

	// Discovery is the address for clients with auto discovery; empty without discovery.
	Discovery string
}

// decideBinding returns what clients need to connect; nil without a binding.
func (d Draft) decideBinding(p Plan) *Binding {
	wanted := d.memcached.Spec.Binding
	if wanted == nil {
		return nil
	}
	binding := &Binding{
		Bound: d.current.Bound, SecretName: wanted.SecretName, Kept: !d.current.SecretsUsable,
		Endpoints: []string{p.Endpoint},
	}
	binding.Host, binding.Port, _ = strings.Cut(p.Endpoint, ":")
	if binding.Port != strconv.Itoa(int(names.TLSPortNumber)) {
		binding.CA = "" // The rollout of TLS is not complete, and a CA may suggest to a client that the port uses TLS.
	}
	if p.Slots != nil && len(p.Slots.Slots) > 0 {
		binding.Endpoints = nil
		for _, slot := range p.Slots.Slots {
			binding.Endpoints = append(binding.Endpoints, slot.Address)
		}
	}
	if p.Discovery != nil {
		binding.Discovery = p.Discovery.Endpoint
	}
	return binding
}

// bindingProblems finds the reasons why a cache can't have the binding that its spec requests.
func bindingProblems(mc *cachev1.Memcached, defaults Defaults) []string {
	spec := mc.Spec
	if spec.Binding == nil {
		return nil
	}
	var problems []string
	if missing := defaults.MissingBindingRights; len(missing) > 0 {
		problems = append(problems, missingRights("binding", missing, "install it with the component "+
			"overlays/components/binding or the chart's value rbac.binding=true"))
	}
	taken := func(field string) string {
		return fmt.Sprintf("spec.binding.secretName %q is also spec.%s.secretName, and the operator changes no Secret "+
			"that it does not own: choose another name", spec.Binding.SecretName, field)
	}
	if spec.TLS != nil && mc.TLSSecretName() == spec.Binding.SecretName {
		problems = append(problems, taken("tls"))
	}
	if spec.Auth != nil && spec.Auth.SecretName == spec.Binding.SecretName {
		problems = append(problems, taken("auth"))
	}
	return problems
}
