# Installs the operator on the cluster of $KUBECONFIG by $METHOD, from a registry and a Git repository in plain HTTP.
set -eux

# The Node pulls from the registry in plain HTTP.
hosts=/etc/containerd/certs.d/$REGISTRY
echo "[host.\"http://$REGISTRY\"]" | docker exec -i memcached-operator-control-plane \
  sh -c "mkdir -p $hosts && cat >$hosts/hosts.toml"

if [ "$METHOD" = overlay ]; then
  set -- IMG="$REGISTRY/memcached-operator:0.0.1-kind" AGENT_IMG="$REGISTRY/memcached-agent:0.0.1-kind" ARCH="$ARCH"
  make image "$@" VERSION=0.0.1-kind
  make deploy "$@"
  kubectl apply -f operator/config/samples/cache_v1_memcached.yaml
  kubectl wait memcached --all --for=condition=Ready --timeout=5m
else
  kubectl create namespace argocd
  kubectl -n argocd apply --server-side \
    -f "https://raw.githubusercontent.com/argoproj/argo-cd/$ARGOCD_VERSION/manifests/install.yaml"
  kubectl -n argocd wait pods --all --for=condition=Ready --timeout=5m
  make demo CLUSTER=current METHOD="$METHOD" REGISTRY="$REGISTRY/team" REPO="$REPO" ARGS=--yes
fi
