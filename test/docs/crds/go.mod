// The versions of the projects whose CustomResourceDefinitions ../crds.go reads. No package is compiled. To change one:
// `go mod edit -require=MODULE@VERSION`, then `go mod download MODULE`.
module github.com/example-inc/memcached-operator/test/docs/crds

go 1.26.0

require (
	github.com/bitnami-labs/sealed-secrets v0.27.1
	github.com/cert-manager/cert-manager v1.21.2
	github.com/external-secrets/external-secrets v1.3.2
	github.com/fluxcd/kustomize-controller v1.9.6
	github.com/fluxcd/source-controller v1.9.6
)
