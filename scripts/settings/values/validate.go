package values

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Multiarch lets the operator and caches run on any of the architectures.
const Multiarch = "multiarch"

// Architectures are those that can be chosen: overlays/ and gitops/operator have a folder for each.
func Architectures() []string { return append(oci.Architectures(), Multiarch) }

// Choices are what a user wants the settings to be, as the flags of init have them.
type Choices struct {
	Repo, Revision, Registry              string // required
	Version, Architecture, MemcachedImage string // empty: as it was
	ArgoCDNamespace                       string // empty: as it was
	AgentImage, CatalogImage              string // empty: as it was, in the new registry
}

// Resolve turns the choices into settings. It names everything that is wrong with them.
func (c Choices) Resolve(current Settings) (Settings, error) {
	image, imageErr := operatorImage(c.Registry, cmp.Or(c.Version, tagOf(current.OperatorImage)))
	s := Settings{
		RepoURL:         c.Repo,
		Revision:        c.Revision,
		ArgoCDNamespace: cmp.Or(c.ArgoCDNamespace, current.ArgoCDNamespace),
		Architecture:    cmp.Or(c.Architecture, current.Architecture),
		OperatorImage:   image,
		AgentImage:      cmp.Or(c.AgentImage, agentImage(c.Registry, current.AgentImage)),
		MemcachedImage:  cmp.Or(c.MemcachedImage, current.MemcachedImage),
		CatalogImage:    cmp.Or(c.CatalogImage, inRegistry(c.Registry, current.CatalogImage)),
	}
	err := errors.Join(
		validateRepo(s.RepoURL),
		validateRevision(s.Revision),
		validateNamespace(s.ArgoCDNamespace),
		imageErr,
		validateArchitecture(s.Architecture),
		validateImage("agent-image", s.AgentImage, "registry.example.com/memcached-agent:0.1.0"),
		validateImage("memcached-image", s.MemcachedImage, "docker.io/library/memcached:1.6.45"),
		validateDigest("catalog-image", s.CatalogImage),
	)
	return s, err
}

// invalid is an error that tells which flag to correct, and how.
func invalid(flag, value, problem, remedy string) error {
	return fmt.Errorf("--%s %q: %s: %s", flag, value, problem, remedy)
}

const repoRemedy = "name it as Argo CD reaches it, such as https://git.example.com/team/memcached-operator.git, " +
	"ssh://git@host/path, git@host:path or file:///path"

// scpLike is the short form of SSH URLs, user@host:path.
var scpLike = regexp.MustCompile(`^[\w.-]+@[\w.-]+:[^/\s:][^\s]*$`)

func validateRepo(repo string) error {
	if repo == "" {
		return invalid("repo", repo, "no repository is named", repoRemedy)
	}
	if scpLike.MatchString(repo) {
		return nil
	}
	u, err := url.Parse(repo)
	if err != nil || strings.ContainsAny(repo, " \t\n") {
		return invalid("repo", repo, "is no URL", repoRemedy)
	}
	if _, secret := u.User.Password(); secret {
		return invalid("repo", u.Redacted(), "holds a password, which a commit would make public",
			"leave it out, and give it to Argo CD as a repository Secret")
	}
	switch u.Scheme {
	case "https", "ssh":
	case "http", "git":
		if !isLocal(u.Hostname()) {
			return invalid("repo", repo, "whoever is on the way could change what the cluster runs",
				"use https or ssh; "+u.Scheme+" is for local addresses")
		}
	case "file":
		if !path.IsAbs(u.Path) {
			return invalid("repo", repo, "is no absolute path", "write file:///path/to/repository")
		}
		return nil
	default:
		return invalid("repo", repo, "is no Git URL", repoRemedy)
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return invalid("repo", repo, "lacks a host or a path", repoRemedy)
	}
	return nil
}

// isLocal: the address is this machine's or of a private network.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate())
}

// badRevision is what git check-ref-format refuses; a leading dash would read as an option.
var badRevision = regexp.MustCompile(`^[-/.]|[/.]$|\.lock$|\.\.|//|/\.|@\{|[\x00-\x20\x7f~^:?*\[\\]`)

func validateRevision(revision string) error {
	const remedy = "name a branch, a tag or a commit, such as main or v0.1.0"
	switch {
	case revision == "":
		return invalid("revision", revision, "is empty", remedy)
	case badRevision.MatchString(revision):
		return invalid("revision", revision, "is no name Git allows", remedy)
	}
	return nil
}

func validateArchitecture(architecture string) error {
	if slices.Contains(Architectures(), architecture) {
		return nil
	}
	return invalid("architecture", architecture, "there is no overlay for it",
		"choose one of "+strings.Join(Architectures(), ", "))
}

// operatorImage composes the operator's image from where it was pushed and its version.
func operatorImage(registry, version string) (string, error) {
	const remedy = "name a host, its port and path if any, such as localhost:5001 or registry.example.com/team"
	if strings.Contains(registry, "://") {
		return "", invalid("registry", registry, "is a URL", "leave out the scheme")
	}
	host, _, _ := strings.Cut(registry, "/")
	if host != "localhost" && !strings.ContainsAny(host, ".:") {
		return "", invalid("registry", registry, "names no host", remedy+"; Docker Hub is docker.io/ACCOUNT")
	}
	// Parse and not ParseNormalizedNamed: what is written is what was said.
	parsed, err := reference.Parse(registry + "/memcached-operator")
	if err != nil {
		return "", invalid("registry", registry, err.Error(), remedy)
	}
	named, ok := parsed.(reference.Named)
	if !ok || reference.Domain(named) != host {
		return "", invalid("registry", registry, "is no registry", remedy)
	}
	tagged, err := reference.WithTag(named, version)
	if err != nil {
		return "", invalid("version", version, err.Error(), "name the tag that was pushed, such as 0.1.0")
	}
	return tagged.String(), nil
}

// agentImage is the agent's image in a registry. Its version is not the operator's, so it stays what it was; its digest
// is known of the registry that it was in alone.
func agentImage(registry, current string) string {
	moved := inRegistry(registry, current)
	if moved == current || tagOf(current) == "" {
		return moved
	}
	byTag, _, _ := strings.Cut(moved, "@")
	return byTag
}

func validateImage(flag, image, example string) error {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return invalid(flag, image, err.Error(), "name it as in "+example)
	}
	return nil
}

// inRegistry is an image in another registry, by the digest that it has.
func inRegistry(registry, image string) string {
	return strings.TrimSuffix(registry, "/") + "/" + path.Base(image)
}

// validateDigest: the catalog is the version that OLM installs, so only a commit may change what it names.
func validateDigest(flag, image string) error {
	parsed, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return invalid(flag, image, err.Error(), "name it as in "+catalogExample)
	}
	if _, byDigest := parsed.(reference.Canonical); !byDigest {
		return invalid(flag, image, "has no digest",
			"name it as in "+catalogExample+"; make catalog-push prints it")
	}
	return nil
}

const catalogExample = "registry.example.com/memcached-operator-catalog@sha256:..."

func validateNamespace(namespace string) error {
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return invalid("argocd-namespace", namespace, problems[0], "name the namespace that Argo CD runs in, such as argocd")
	}
	return nil
}

// tagOf is the version in an image of the settings file.
func tagOf(image string) string {
	parsed, err := reference.Parse(image)
	if tagged, ok := parsed.(reference.Tagged); err == nil && ok {
		return tagged.Tag()
	}
	return ""
}

// isPlaceholder tells of a repository or an image that is only an example.
func isPlaceholder(value string) bool {
	host := value
	if u, err := url.Parse(value); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	} else {
		host, _, _ = strings.Cut(host, "/")
	}
	return host == placeholderHost || strings.HasSuffix(host, "."+placeholderHost)
}
