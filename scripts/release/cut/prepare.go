package cut

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	versions "github.com/example-inc/memcached-operator/scripts/versions/facts"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	managerFile = "operator/config/manager/manager.yaml"
	crdFile     = "operator/config/crd/bases/cache.example.com_memcacheds.yaml"
	releasedCRD = "test/crd/released"
	renderCases = "operator/internal/render/testdata/cases"
	released    = "operator/internal/render/testdata/released"
)

// These are the places in files that name the version or the images of a release.
var (
	makeVersion    = worktree.Place{File: "Makefile", Find: `(?m)^VERSION \?= (\S+)$`}
	makeRegistry   = worktree.Place{File: "Makefile", Find: `(?m)^REGISTRY \?= (\S+)$`}
	createdAt      = worktree.Place{File: bundle.Base, Find: `createdAt: "(.*)"`}
	memcachedImage = worktree.Place{File: managerFile, Find: `RELATED_IMAGE_MEMCACHED\n +value: (\S+)`}

	// programImages are in the same order as Tree.Images.
	programImages = []worktree.Place{
		{File: managerFile, Find: `(?m)^ +image: (\S+)`},
		{File: managerFile, Find: `RELATED_IMAGE_AGENT\n +value: (\S+)`},
		{File: managerFile, Find: `RELATED_IMAGE_SNAPSHOT\n +value: (\S+)`},
	}
)

//go:embed report.txt
var report string

// Prepare writes the release into the tree at Root, unless it is a dry run. It prints what it changes, what the user
// has to do next, and what is new in the release.
func (r *Release) Prepare(ctx context.Context, dryRun bool, out io.Writer) error {
	return r.inCopy(ctx, func(t *Tree) error {
		if _, err := worktree.Git(ctx, t.Dir, "add", "--all", "--force"); err != nil {
			return err
		}
		changed, err := worktree.List(ctx, t.Dir, "diff", "--cached", "--name-only", "--diff-filter=d")
		if err != nil {
			return err
		}
		if !dryRun {
			if err := worktree.CopyFiles(t.Dir, r.Root, changed); err != nil {
				return err
			}
		}
		text := template.Must(template.New("").Parse(report))
		return text.Execute(out, map[string]any{"Tree": t, "Changed": changed, "DryRun": dryRun})
	})
}

// WriteTo copies the commit into an empty folder, and writes the release into the copy.
func (r *Release) WriteTo(ctx context.Context, dir string) (*Tree, error) {
	t := &Tree{Dir: dir, Record: Record{Version: r.Version, Registry: r.Registry}}
	if err := r.validate(ctx, t); err != nil {
		return nil, err
	}
	if _, err := worktree.Git(ctx, r.Root, "clone", "--quiet", "--shared", ".", dir); err != nil {
		return nil, err
	}
	if err := r.build(ctx, t); err != nil {
		return nil, err
	}
	if err := r.stamp(ctx, t); err != nil {
		return nil, err
	}
	return t, t.stampOLM(ctx)
}

// stamp writes the release into the files from which the bundle and the catalog are made, and into the documentation.
func (r *Release) stamp(ctx context.Context, t *Tree) error {
	writes := map[worktree.Place]string{makeVersion: r.Version, makeRegistry: r.Registry}
	for i, place := range programImages {
		writes[place] = t.Images[i].String()
	}
	if t.Old[0] != t.Images[0].String() { // Otherwise the commit already has this release and its time.
		writes[createdAt] = t.Time
	}
	if r.MemcachedImage != "" {
		writes[memcachedImage] = r.MemcachedImage
	}
	var errs []error
	for place, value := range writes {
		errs = append(errs, place.Write(t.Dir, value))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err := values.Edit(t.Dir, func(s *values.Settings) {
		s.OperatorImage, s.AgentImage, s.SnapshotImage = t.Images[0].String(), t.Images[1].String(), t.Images[2].String()
		s.MemcachedImage = cmp.Or(r.MemcachedImage, s.MemcachedImage)
	})
	if err != nil {
		return err
	}
	t.Memcached, err = memcachedImage.Read(t.Dir)
	return errors.Join(err, t.stampDocs(ctx), t.stampRunbooks(ctx), t.keepReleased())
}

// runbooks matches the links from alerts and dashboards to the pages of a branch or a tag.
var runbooks = regexp.MustCompile(`(/blob/)[^/]+(/docs/(?:runbooks/|monitoring\.md))`)

// stampRunbooks makes the links from alerts and dashboards lead to the pages of this version, because the pages of the
// branch later describe newer versions of the operator.
func (t *Tree) stampRunbooks(ctx context.Context) error {
	next := func(text string) string { return runbooks.ReplaceAllString(text, "${1}v"+t.Version+"${2}") }
	return t.rewrite(ctx, next,
		"operator/config/monitoring/*.yaml", "operator/config/monitoring/*.json", "test/monitoring/testdata/*.yaml")
}

// rewrite replaces the text of the files whose names match one of the patterns.
func (t *Tree) rewrite(ctx context.Context, next func(string) string, patterns ...string) error {
	files, err := worktree.List(ctx, t.Dir, append([]string{"ls-files"}, patterns...)...)
	if err != nil {
		return err
	}
	for _, name := range files {
		path := filepath.Join(t.Dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(next(string(content))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// stampDocs writes the registry and the version into the documentation. It does nothing for a candidate, because the
// documentation must not lead readers to one.
func (t *Tree) stampDocs(ctx context.Context) error {
	if isCandidate(t.Version) {
		return nil
	}
	var repositories []string // pairs: an old repository, and the one that replaces it
	for i, old := range t.Old {
		repositories = append(repositories, bundle.RepositoryOf(old), t.Images[i].Repository)
	}
	if err := t.rewrite(ctx, strings.NewReplacer(repositories...).Replace, "*.md"); err != nil {
		return err
	}
	found, err := versions.Read(ctx, t.Dir)
	if err != nil {
		return err
	}
	// This function changes only the versions of these two. Memcached's tag, for example, may have been chosen for this
	// release only.
	isOther := func(c versions.Copy) bool { return c.Name != "operator" && c.Name != "agent" }
	found.Stale = slices.DeleteFunc(found.Stale, isOther)
	_, err = found.Write()
	return err
}

// keepReleased stores the API of this release, and the objects that this operator renders. Later releases are compared
// with both: a later release must not break the API, and must not replace the Pods of running caches because it renders
// the objects in another way.
func (t *Tree) keepReleased() error {
	to := filepath.Join(t.Dir, released, t.Version)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(t.Dir, renderCases))); err != nil {
		return err
	}
	crd, err := os.ReadFile(filepath.Join(t.Dir, crdFile)) // Snapshots are new: their CRD may still change.
	if err != nil {
		return err
	}
	return worktree.WriteFile(filepath.Join(t.Dir, releasedCRD, t.Version+".yaml"), crd, 0o644)
}

// stampOLM writes the bundle and the catalog, and adds their images. It is the last step, because the bundle and the
// catalog are made from all other files.
func (t *Tree) stampOLM(ctx context.Context) error {
	channels := []string{"stable", "candidate"}
	if isCandidate(t.Version) {
		channels = []string{"candidate"}
	}
	dir := filepath.Join(t.Dir, bundle.Dir)
	o := bundle.Options{
		Images: bundle.Images{Operator: t.Images[0].ByDigest()}, Version: t.Version, Channels: channels,
		DefaultChannel: "stable", Digest: pin,
	}
	if err := catalog.WriteBundle(ctx, t.Dir, dir, o); err != nil {
		return err
	}
	if err := t.addOLM("-bundle", bundle.Image); err != nil {
		return err
	}
	if err := catalog.AddBundle(dir, t.Images[3].ByDigest()); err != nil {
		return err
	}
	if err := t.addOLM("-catalog", bundle.CatalogImage); err != nil {
		return err
	}
	return values.Edit(t.Dir, func(s *values.Settings) { s.CatalogImage = t.Images[4].ByDigest() })
}

// addOLM builds the image of the bundle or of the catalog from the files in the tree, and adds it.
func (t *Tree) addOLM(suffix string, recipe bundle.Recipe) error {
	index, err := recipe.Build(filepath.Join(t.Dir, bundle.Dir))
	if err != nil {
		return err
	}
	name := bundle.Package + suffix
	return t.addImage(name, name, "v"+t.Version, index)
}

func isCandidate(version string) bool { return strings.Contains(version, "-") }

// pin removes the tag from a reference that also has a digest, because tools that mirror images accept either a tag or
// a digest. A reference without a digest, which memcached's image may have, stays as it is.
func pin(_ context.Context, image string) (string, error) {
	if _, digest, found := strings.Cut(image, "@"); found {
		return bundle.RepositoryOf(image) + "@" + digest, nil
	}
	return image, nil
}
