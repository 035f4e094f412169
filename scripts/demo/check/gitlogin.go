package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/gitrepo"
)

// gitLogin finds out whether Argo CD can read the repository: without a login, or by a Secret.
func gitLogin(ctx context.Context, s *Subject) Result {
	if strings.HasPrefix(s.Repo, "file://") {
		return warning("a path", "Argo CD's repo-server must see the same path, as that of the local cluster does")
	}
	anonymous := s.readableByAll(ctx)
	if anonymous == nil {
		return passed("everybody can")
	}
	found, err := s.repositorySecret(ctx)
	remedy := fmt.Sprintf("give Argo CD a login by a repository Secret in %s, or by argocd repo add %s "+
		"(docs/gitops.md, Secrets)", s.ArgoCDNamespace, s.Repo)
	switch {
	case found != "":
		return passed("by the Secret " + found)
	case apierrors.IsForbidden(err):
		return warning("you may not list the Secrets in "+s.ArgoCDNamespace, "if it has none for this repository: "+remedy)
	case err != nil:
		return failed(err.Error(), remedy)
	case errors.Is(anonymous, gitrepo.ErrLogin):
		return failed("it needs a login, and no Secret has one", remedy)
	}
	return warning(anonymous.Error(), "if it needs a login: "+remedy)
}

// readableByAll is about HTTP: nobody uses SSH without a key.
func (s *Subject) readableByAll(ctx context.Context) error {
	for _, scheme := range []string{"http://", "https://", "git://"} {
		if strings.HasPrefix(s.Repo, scheme) {
			return gitrepo.ReadableByAll(ctx, s.Repo)
		}
	}
	return gitrepo.ErrLogin
}

// repositorySecret finds the Secret that Argo CD logs in by.
func (s *Subject) repositorySecret(ctx context.Context) (string, error) {
	const label = "argocd.argoproj.io/secret-type"
	secrets := &corev1.SecretList{}
	here := client.InNamespace(s.ArgoCDNamespace)
	if err := s.Kube.Client.List(ctx, secrets, here, client.HasLabels{label}); err != nil {
		return "", err
	}
	repo := normal(s.Repo)
	i := slices.IndexFunc(secrets.Items, func(secret corev1.Secret) bool {
		url := normal(string(secret.Data["url"]))
		switch secret.Labels[label] {
		case "repository":
			return url == repo
		case "repo-creds": // for all repositories below
			return url != "" && strings.HasPrefix(repo, url)
		}
		return false
	})
	if i < 0 {
		return "", nil
	}
	return secrets.Items[i].Name, nil
}

// normal makes the ways to write one URL alike, as Argo CD does.
func normal(url string) string {
	url = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git"))
	if _, after, found := strings.Cut(url, "ssh://"); found {
		return after
	}
	if !strings.Contains(url, "://") {
		return strings.Replace(url, ":", "/", 1)
	}
	return url
}
