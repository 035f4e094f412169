package docs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// argoCD is the module of Argo CD, in the version that runs in the local cluster.
const argoCD = "github.com/argoproj/argo-cd/v3"

const certManager = "github.com/cert-manager/cert-manager"

// crds are files with CustomResourceDefinitions, and the modules whose source has them.
var crds = []struct{ module, file string }{
	{argoCD, "manifests/crds/application-crd.yaml"},
	{argoCD, "manifests/crds/applicationset-crd.yaml"},
	{argoCD, "manifests/crds/appproject-crd.yaml"},
	{"github.com/bitnami-labs/sealed-secrets", "helm/sealed-secrets/crds/bitnami.com_sealedsecrets.yaml"},
	{certManager, "deploy/crds/cert-manager.io_certificates.yaml"},
	{certManager, "deploy/crds/cert-manager.io_issuers.yaml"},
	{"github.com/external-secrets/external-secrets", "config/crds/bases/external-secrets.io_externalsecrets.yaml"},
	{"github.com/fluxcd/kustomize-controller", "config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml"},
	{"github.com/fluxcd/source-controller", "config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml"},
	{"github.com/fluxcd/source-controller", "config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml"},
}

// CRDs returns the files with the CustomResourceDefinitions of other projects, for the objects that pages show. They
// are in Go's module cache; the first call downloads them.
func CRDs(ctx context.Context, root string) ([]string, error) {
	return crdsOf(ctx, root, func(string) bool { return true })
}

// CertManagerCRDs returns the files with the CustomResourceDefinitions of cert-manager.
func CertManagerCRDs(ctx context.Context, root string) ([]string, error) {
	return crdsOf(ctx, root, func(module string) bool { return module == certManager })
}

func crdsOf(ctx context.Context, root string, wanted func(module string) bool) ([]string, error) {
	var files []string
	for _, crd := range crds {
		if !wanted(crd.module) {
			continue
		}
		versions := "test/docs/crds"
		if crd.module == argoCD {
			versions = "scripts/cluster/builds/argocd"
		}
		folder, err := download(ctx, filepath.Join(root, versions), crd.module)
		if err != nil {
			return nil, err
		}
		files = append(files, filepath.Join(folder, crd.file))
	}
	return files, nil
}

// download returns the folder with the source of a module, in the version that the go.mod in dir requires.
func download(ctx context.Context, dir, module string) (string, error) {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	command.Dir = dir
	out, failed := command.Output() // If the module can't be downloaded, the output has the reason.
	var downloaded struct{ Dir, Error string }
	if err := json.Unmarshal(out, &downloaded); err != nil || failed != nil {
		return "", fmt.Errorf("download %s: %w", module, errors.Join(failed, err, errors.New(downloaded.Error)))
	}
	return downloaded.Dir, nil
}
