#!/bin/sh
# Installs the operator on a new cluster of kind, with Docker, and waits for a cache. METHOD is overlay (make deploy),
# direct (Argo CD follows gitops/), or olm (Argo CD installs OLM, and OLM the operator). Argo CD and OLM come from the
# releases of their projects. The cluster keeps running: kind delete cluster --name memcached-operator
set -eu
case ${METHOD:-} in
overlay | direct | olm) ;;
*) echo "METHOD=${METHOD:-}: choose one of overlay, direct, olm" >&2; exit 1 ;;
esac
set -x
arch=$(go env GOARCH)
dir=$(mktemp -d)
servers=
trap 'kill $servers 2>/dev/null || :; wait; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
export KUBECONFIG="$dir/kubeconfig"
go build -o "$dir/crane" github.com/google/go-containerregistry/cmd/crane
go tool -modfile=scripts/tools/go.mod kind create cluster --name memcached-operator --wait 3m

# The registry and the Git repository are empty at first. They listen at this machine's IPv4 address in kind's network,
# and everybody may push to them.
address=$(docker network inspect kind --format '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m1 -F .)
registry=$address:5000 repo=git://$address/memcached-operator.git
"$dir/crane" registry serve --address "$registry" --disk "$dir/blobs" &
servers=$!
git init --quiet --bare --initial-branch=main "$dir/git/memcached-operator.git"
"$(git --exec-path)/git-daemon" --listen="$address" --base-path="$dir/git" --export-all --enable=receive-pack \
  --reuseaddr &
servers="$servers $!"
while ! git ls-remote "$repo"; do kill -0 $!; sleep 1; done

# The Node pulls from the registry in plain HTTP.
hosts=/etc/containerd/certs.d/$registry
echo "[host.\"http://$registry\"]" | docker exec -i memcached-operator-control-plane \
  sh -c "mkdir -p $hosts && cat >$hosts/hosts.toml"

if [ "$METHOD" = overlay ]; then
  set -- IMG="$registry/memcached-operator:0.0.1-kind" AGENT_IMG="$registry/memcached-agent:0.0.1-kind" ARCH="$arch"
  make image "$@" VERSION=0.0.1-kind
  make deploy "$@"
  kubectl apply -f operator/config/samples/cache_v1_memcached.yaml
  kubectl wait memcached --all --for=condition=Ready --timeout=5m
else
  # This is the version of Argo CD in the local cluster.
  argocd=$(go -C scripts/cluster/builds/argocd list -m -f '{{.Version}}' github.com/argoproj/argo-cd/v3)
  kubectl create namespace argocd
  kubectl -n argocd apply --server-side \
    -f "https://raw.githubusercontent.com/argoproj/argo-cd/$argocd/manifests/install.yaml"
  kubectl -n argocd wait pods --all --for=condition=Ready --timeout=5m
  make demo CLUSTER=current METHOD="$METHOD" REGISTRY="$registry/team" REPO="$repo" ARGS=--yes
fi
