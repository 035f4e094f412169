package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

// TestAzuresRefusalIsAnError: if Azure refuses a request, there is an error, and no panic that ends the program.
func TestAzuresRefusalIsAnError(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ms-Error-Code", "AuthorizationPermissionMismatch")
		w.WriteHeader(http.StatusForbidden)
	}
	server := httptest.NewServer(http.HandlerFunc(refuse))
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", "a2V5")
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	t.Setenv("AZURE_STORAGE_IS_LOCAL_EMULATOR", "true")
	b := open(t, "azblob://backups?domain="+strings.TrimPrefix(server.URL, "http://"))
	to, err := b.Create(t.Context(), "daily/shop-0", 7)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = to.Write([]byte("content"))
	if err := to.Close(); err == nil || !strings.Contains(err.Error(), "AuthorizationPermissionMismatch") {
		t.Errorf("got %v", err)
	}
	err = b.Add(t.Context(), "daily/manifest.json", []byte("{}"))
	if err == nil || !strings.Contains(err.Error(), "AuthorizationPermissionMismatch") {
		t.Errorf("added: %v", err)
	}
}

// TestAnObjectOfAzureIsWhatWasWritten: an object has the content of a complete write, and not the content of an
// abandoned write.
func TestAnObjectOfAzureIsWhatWasWritten(t *testing.T) {
	var got []byte
	puts := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		puts++
		got, _ = io.ReadAll(r.Body)
		if r.Header.Get("If-None-Match") == "*" {
			w.Header().Set("X-Ms-Error-Code", "BlobAlreadyExists")
			w.WriteHeader(http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", "a2V5")
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	t.Setenv("AZURE_STORAGE_IS_LOCAL_EMULATOR", "true")
	b := open(t, "azblob://backups?domain="+strings.TrimPrefix(server.URL, "http://"))
	ctx, abandon := context.WithCancel(t.Context())
	to, err := b.Create(ctx, "daily/shop-0", 7)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = to.Write([]byte("half"))
	abandon()
	if to.Close() == nil || puts > 0 {
		t.Errorf("what was abandoned is written: %q", got)
	}
	write(t, b, "daily/shop-0", []byte("content"))
	if string(got) != "content" {
		t.Errorf("%q is written", got)
	}
	if err := b.Add(t.Context(), "daily/manifest.json", []byte("{}")); !errors.Is(err, snapshot.ErrExists) {
		t.Errorf("a manifest that exists: %v", err)
	}
}
