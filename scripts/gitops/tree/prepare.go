package tree

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
)

// Where sources are taken from, if it is no folder.
const (
	Skip  = "skip"  // nowhere: gitops/sources.json lists what is in them
	Fetch = "fetch" // from where they are
)

const fetchTimeout = 2 * time.Minute

// Prepare reads what trees are built from, with the sources from where they are wanted: Skip, Fetch or a folder.
func Prepare(ctx context.Context, files repo.Files, sources string) (*Builder, error) {
	catalog, err := source.Parse(files[source.File])
	if err != nil {
		return nil, err
	}
	return PrepareBy(ctx, files, sources, catalog)
}

// PrepareBy does it by another list of what the sources hold than that of the files.
func PrepareBy(ctx context.Context, files repo.Files, sources string, catalog source.Catalog) (*Builder, error) {
	remotes, err := source.Remotes(files)
	if err != nil {
		return nil, err
	}
	get, err := getter(ctx, sources, catalog)
	if err != nil {
		return nil, err
	}
	builder, err := newBuilder(source.Localise(files, remotes, get), catalog)
	if err != nil {
		return nil, err
	}
	builder.Remotes, builder.Listed = remotes, sources == Skip
	return builder, nil
}

func getter(ctx context.Context, sources string, catalog source.Catalog) (source.Getter, error) {
	switch sources {
	case Skip:
		return catalog.StandIns, nil
	case Fetch:
		return source.Fetch(ctx, &http.Client{Timeout: fetchTimeout}), nil
	}
	if info, err := os.Stat(sources); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--sources %q: is neither %s nor %s nor a folder", sources, Skip, Fetch)
	}
	return source.Folder(sources), nil
}
