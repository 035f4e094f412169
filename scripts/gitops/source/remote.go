package source

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// Remote is a resource of a kustomization that is not in the repository.
type Remote struct {
	File string // the kustomization
	URL  string // as it is written there
}

// Remotes are all of them below gitops/.
func Remotes(files repo.Files) ([]Remote, error) {
	var found []Remote
	for _, file := range files.Kustomizations("gitops") {
		var k types.Kustomization
		if err := yaml.Unmarshal(files[file], &k); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, entry := range slices.Concat(k.Resources, k.Components) {
			if isRemote(entry) {
				found = append(found, Remote{File: file, URL: entry})
			}
		}
	}
	return found, nil
}

// isRemote: kustomize would go to the network for it.
func isRemote(entry string) bool {
	return strings.Contains(entry, "://") || strings.Contains(entry, "?ref=") || strings.Contains(entry, "git@") ||
		strings.HasPrefix(entry, "github.com/")
}

var (
	version = regexp.MustCompile(`^v?\d+\.\d+\.\d+([-+][\w.+-]+)?$`)
	commit  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	moving  = []string{"latest", "main", "master", "HEAD", "head", "nightly"}
)

// Unpinned tells why what is behind the URL may be something else tomorrow. It is empty where it may not.
func Unpinned(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "is no https:// URL"
	}
	if u.Query().Has("ref") || strings.Contains(strings.TrimPrefix(u.Path, "/"), "//") {
		ref := u.Query().Get("ref")
		if ref == "" {
			return "names no ?ref=, so that it follows the repository's default branch"
		}
		if !fixed(ref) {
			return fmt.Sprintf("?ref=%s is neither a version nor a commit", ref)
		}
		return ""
	}
	segments := strings.Split(u.Path, "/")
	for _, segment := range segments {
		if slices.Contains(moving, segment) {
			return fmt.Sprintf("%q in it is whatever is newest", segment)
		}
	}
	if !slices.ContainsFunc(segments, fixed) {
		return "no part of it is a version or a commit"
	}
	return ""
}

func fixed(name string) bool { return version.MatchString(name) || commit.MatchString(name) }

// Localised are the files with each remote resource replaced by a file beside the kustomization that names it.
type Localised struct {
	Files repo.Files
	// URLs are the URLs by the files that replace them.
	URLs map[string]string
	// Contents are what is behind the URLs.
	Contents map[string][]byte
	// Failed are the sources that could not be had. They are left out of the files.
	Failed map[string]error
}

// Getter gets the manifests behind a URL.
type Getter func(address string) ([]byte, error)

// Localise gets what the kustomizations take from elsewhere, each source once.
func Localise(files repo.Files, remotes []Remote, get Getter) Localised {
	done := Localised{URLs: map[string]string{}, Contents: map[string][]byte{}, Failed: map[string]error{}}
	changes := repo.Files{}
	for i, remote := range remotes {
		if _, had := done.Contents[remote.URL]; !had && done.Failed[remote.URL] == nil {
			done.get(remote.URL, get)
		}
		text, found := changes[remote.File]
		if !found {
			text = files[remote.File]
		}
		name := fmt.Sprintf("remote-%d.yaml", i)
		changes[remote.File] = []byte(strings.ReplaceAll(string(text), remote.URL, name))
		file := path.Join(path.Dir(remote.File), name)
		changes[file] = append([]byte("# "+remote.URL+"\n"), done.Contents[remote.URL]...)
		done.URLs[file] = remote.URL
	}
	done.Files = files.With(changes)
	return done
}

func (l Localised) get(address string, get Getter) {
	content, err := get(address)
	if err != nil {
		l.Failed[address] = err
		return
	}
	l.Contents[address] = content
}
