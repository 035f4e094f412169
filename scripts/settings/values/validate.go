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

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Multiarch lets the operator and caches run on any of the architectures.
const Multiarch = "multiarch"

// Architectures returns the architectures that a user can choose. Each has an overlay.
func Architectures() []string { return append(oci.Architectures(), Multiarch) }

// Choices are the settings that a user wants, as in the flags of the command.
type Choices struct {
	Repo, Revision, Registry                               string // required
	Version, Architecture, MemcachedImage, ArgoCDNamespace string // empty: the current value
	AgentImage, CatalogImage                               string // empty: the current value, in the new registry
	SnapshotImage                                          string // empty: the image of the version, in the new registry
}

// Resolve returns the settings with the choices in them. The error names everything that is wrong with the choices.
func (c Choices) Resolve(current Settings) (Settings, error) {
	version := cmp.Or(c.Version, tagOf(current.OperatorImage))
	image, imageErr := operatorImage(c.Registry, version)
	s := Settings{
		RepoURL:         c.Repo,
		Revision:        c.Revision,
		ArgoCDNamespace: cmp.Or(c.ArgoCDNamespace, current.ArgoCDNamespace),
		Architecture:    cmp.Or(c.Architecture, current.Architecture),
		OperatorImage:   image,
		AgentImage:      cmp.Or(c.AgentImage, agentImage(c.Registry, current.AgentImage)),
		SnapshotImage:   cmp.Or(c.SnapshotImage, c.Registry+"/memcached-snapshot:"+version),
		MemcachedImage:  cmp.Or(c.MemcachedImage, current.MemcachedImage),
		CatalogImage:    cmp.Or(c.CatalogImage, inRegistry(c.Registry, current.CatalogImage)),
	}
	namespace := validation.IsDNS1123Label(s.ArgoCDNamespace)
	_, agentErr := name.ParseReference(s.AgentImage)
	_, snapshotErr := name.ParseReference(s.SnapshotImage)
	_, memcachedErr := name.ParseReference(s.MemcachedImage)
	_, catalogErr := name.NewDigest(s.CatalogImage) // With a digest, only a commit changes which version OLM installs.
	return s, errors.Join(
		ValidateRepo("repo", s.RepoURL),
		refuse(badRevision.MatchString(s.Revision), "revision", s.Revision, "is no name that Git allows",
			"name a branch, a tag or a commit, such as main or v0.1.0"),
		refuse(namespace != nil, "argocd-namespace", s.ArgoCDNamespace, strings.Join(namespace, ", "),
			"name the namespace that Argo CD runs in, such as argocd"),
		imageErr,
		refuse(!slices.Contains(Architectures(), s.Architecture), "architecture", s.Architecture, "has no overlay",
			"choose one of "+strings.Join(Architectures(), ", ")),
		refuse(agentErr != nil, "agent-image", s.AgentImage, agentErr,
			"name it as in registry.example.com/memcached-agent:0.1.0"),
		refuse(snapshotErr != nil && imageErr == nil, "snapshot-image", s.SnapshotImage, snapshotErr,
			"name it as in registry.example.com/memcached-snapshot:0.1.0"),
		refuse(memcachedErr != nil, "memcached-image", s.MemcachedImage, memcachedErr,
			"name it as in docker.io/library/memcached:1.6.45"),
		refuse(catalogErr != nil, "catalog-image", s.CatalogImage, catalogErr,
			"name it by digest as in registry.example.com/memcached-operator-catalog@sha256:...; make catalog-push prints it"),
	)
}

// refuse returns an error with the flag, its value, the problem and the fix. It returns nil unless bad is set.
func refuse(bad bool, flag, value string, problem any, fix string) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("--%s %q: %v: %s", flag, value, problem, fix)
}

// scpLike is the short form of SSH URLs, user@host:path.
var scpLike = regexp.MustCompile(`^[\w.-]+@[\w.-]+:[^/\s:][^\s]*$`)

// ValidateRepo returns an error if the value of a flag is not the URL of a Git repository.
func ValidateRepo(flag, repo string) error {
	fix := "name it as Argo CD reaches it, such as https://git.example.com/team/memcached-operator.git, " +
		"ssh://git@host/path, git@host:path or file:///path"
	if scpLike.MatchString(repo) {
		return nil
	}
	problem := ""
	u, err := url.Parse(repo)
	switch {
	case err != nil || strings.ContainsAny(repo, " \t\n"):
		problem = "is no URL"
	case repo == "":
		problem = "no repository is named"
	case strings.Contains(u.Redacted(), ":xxxxx@"):
		repo, problem = u.Redacted(), "holds a password, which a commit would make public"
		fix = "leave it out, and give it to Argo CD as a repository Secret"
	case !slices.Contains([]string{"https", "ssh", "http", "git", "file"}, u.Scheme):
		problem = "is no Git URL"
	case u.Scheme == "file" && !path.IsAbs(u.Path):
		problem, fix = "is no absolute path", "write file:///path/to/repository"
	case u.Scheme != "file" && (u.Hostname() == "" || strings.Trim(u.Path, "/") == ""):
		problem = "has no host or no path"
	case slices.Contains([]string{"http", "git"}, u.Scheme) && !isLocal(u.Hostname()):
		problem = "the connection is not encrypted, so a network in between could change what the cluster runs"
		fix = "use https or ssh; " + u.Scheme + " is for local addresses"
	}
	return refuse(problem != "", flag, repo, problem, fix)
}

// isLocal reports whether the host is this computer, or has an address of a private network.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip.IsLoopback() || ip.IsPrivate()
}

// badRevision matches names that git check-ref-format refuses, and names with a leading dash, which git would read as
// an option.
var badRevision = regexp.MustCompile(`^$|^[-/.]|[/.]$|\.lock$|\.\.|//|/\.|@\{|[\x00-\x20\x7f~^:?*\[\\]`)

// operatorImage returns the operator's image of a version in a registry.
func operatorImage(registry, version string) (string, error) {
	image := registry + "/memcached-operator:" + version
	_, err := name.NewTag(image, name.StrictValidation)
	return image, cmp.Or(ValidateRegistry("--registry ", registry),
		refuse(err != nil, "version", version, err, "name the tag that was pushed, such as 0.1.0"))
}

// ValidateRegistry returns an error if the value of a parameter is not a registry of images.
func ValidateRegistry(parameter, registry string) error {
	_, err := name.NewRepository(registry+"/memcached-operator", name.StrictValidation)
	switch {
	case strings.Contains(registry, "://"):
		return fmt.Errorf("%s%q: is a URL: leave out the scheme", parameter, registry)
	case err != nil:
		return fmt.Errorf("%s%q: %w: name host and path, such as localhost:5001 or registry.example.com/team; "+
			"Docker Hub is docker.io/ACCOUNT", parameter, registry, err)
	}
	return nil
}

// agentImage returns the agent's image in a registry. The image keeps its version, which differs from the operator's.
// In another registry than the current one, an image with a tag loses its digest, because the digest is known only for
// the current registry.
func agentImage(registry, current string) string {
	moved := inRegistry(registry, current)
	if moved != current && tagOf(current) != "" {
		moved, _, _ = strings.Cut(moved, "@")
	}
	return moved
}

// inRegistry returns the same image in another registry, with its current digest.
func inRegistry(registry, image string) string {
	return strings.TrimSuffix(registry, "/") + "/" + path.Base(image)
}

// tagOf returns the tag of an image. It is empty if the image has no tag.
func tagOf(image string) string {
	byTag, _, _ := strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(byTag), ":")
	return tag
}

// Name returns an image reference without its tag and its digest.
func Name(image string) string {
	image, _, _ = strings.Cut(image, "@")
	return strings.TrimSuffix(image, ":"+tagOf(image))
}
