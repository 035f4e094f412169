package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive is a repository with a folder that kustomize builds.
func archive(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipped)
	for name, content := range map[string]string{
		"tool-1.2.3/config/default/kustomization.yaml": "namePrefix: a-\nresources: [../base]\n",
		"tool-1.2.3/config/base/kustomization.yaml":    "resources: [namespace.yaml]\n",
		"tool-1.2.3/config/base/namespace.yaml":        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: tool}\n",
	} {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

const archivePath = "/acme/tool/archive/v1.2.3.tar.gz"

// toServer sends each request to a server of this test, whatever host it is for.
type toServer struct{ server *httptest.Server }

func (s toServer) RoundTrip(request *http.Request) (*http.Response, error) {
	local := request.Clone(request.Context())
	local.URL.Scheme, local.URL.Host = "http", strings.TrimPrefix(s.server.URL, "http://")
	return http.DefaultTransport.RoundTrip(local)
}

func TestFetch(t *testing.T) {
	packed := archive(t)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		switch request.URL.Path {
		case "/acme/tool/releases/download/v1.2.3/tool.yaml":
			_, _ = out.Write([]byte(manifests))
		case archivePath:
			_, _ = out.Write(packed)
		default:
			http.NotFound(out, request)
		}
	}))
	defer server.Close()
	get := Fetch(t.Context(), &http.Client{Transport: toServer{server}})
	gets(t, get)
	if _, err := get("https://github.com/acme/tool/releases/download/v9.9.9/tool.yaml"); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("what is not there: %v", err)
	}
	server.Close()
	if _, err := get(release); err == nil || !strings.Contains(err.Error(), "--sources DIR") {
		t.Errorf("no network: %v", err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"github.com/acme/tool/releases/download/v1.2.3/tool.yaml": []byte(manifests),
		"github.com" + archivePath:                                archive(t),
		"github.com/acme/tool/archive/v0.0.1.tar.gz":              []byte("no archive"),
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	get := Folder(dir)
	gets(t, get)
	for address, want := range map[string]string{
		"https://github.com/acme/tool/releases/download/v9.9.9/tool.yaml": "no such file",
		"https://github.com/acme/tool//config?ref=v0.0.1":                 "v0.0.1.tar.gz",
		"https://github.com/acme/tool//gone?ref=v1.2.3":                   "gone",
		"https://gitlab.acme.test/acme/tool//config?ref=v1.2.3":           "https://github.com/OWNER/NAME",
	} {
		if _, err := get(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// gets makes sure of what is behind the two kinds of URL.
func gets(t *testing.T, get Getter) {
	t.Helper()
	if content, err := get(release); err != nil || string(content) != manifests {
		t.Errorf("a release: %v\n%s", err, content)
	}
	if content, err := get(folder); err != nil || !strings.Contains(string(content), "name: a-tool") {
		t.Errorf("a folder of a repository: %v\n%s", err, content)
	}
}
