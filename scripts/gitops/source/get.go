package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/render"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// maxDownload is several times what the largest source has.
const maxDownload = 64 << 20

// Fetch gets sources from where they are.
func Fetch(ctx context.Context, client *http.Client) Getter {
	return built(func(address string) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("%w: where there is no network, name a folder with a copy by --sources DIR", err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s answers %s", address, response.Status)
		}
		return read(response.Body)
	})
}

func read(from io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, maxDownload+1))
	if err == nil && len(content) > maxDownload {
		return nil, fmt.Errorf("is larger than %d MiB", maxDownload>>20)
	}
	return content, err
}

// Folder gets sources from copies: https://host/path is DIR/host/path.
func Folder(dir string) Getter {
	return built(func(address string) ([]byte, error) {
		u, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		return os.ReadFile(filepath.Join(dir, u.Host, filepath.FromSlash(path.Clean("/"+u.Path))))
	})
}

// built makes manifests of what is behind a URL: a file is taken as it is, a folder of a repository is built.
func built(download Getter) Getter {
	return func(address string) ([]byte, error) {
		archive, folder, err := archiveOf(address)
		if err != nil {
			return nil, err
		}
		if archive == "" {
			return download(address)
		}
		content, err := download(archive)
		if err != nil {
			return nil, err
		}
		files, err := unpack(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		return render.YAML(files, folder)
	}
}

// archiveOf is where the repository behind https://github.com/owner/name//folder?ref=v1.0.0 can be had as one file. It is
// empty for the URL of a file.
func archiveOf(address string) (archive, folder string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", err
	}
	ref := u.Query().Get("ref")
	if ref == "" {
		return "", "", nil
	}
	repository, folder, found := strings.Cut(strings.TrimPrefix(u.Path, "/"), "//")
	if !found || u.Host != "github.com" {
		return "", "", fmt.Errorf("%s: only https://github.com/OWNER/NAME//FOLDER?ref=VERSION can be read", address)
	}
	return fmt.Sprintf("https://%s/%s/archive/%s.tar.gz", u.Host, strings.TrimSuffix(repository, ".git"), ref), folder, nil
}

// unpack reads an archive with one folder, which is the repository.
func unpack(archive []byte) (repo.Files, error) {
	packed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	files := repo.Files{}
	for reader := tar.NewReader(packed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := read(reader)
		if err != nil {
			return nil, err
		}
		_, name, _ := strings.Cut(path.Clean(header.Name), "/")
		files[name] = content
	}
}
