package bucket

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAzuresRefusalIsAnError, and does not end the program by a panic.
func TestAzuresRefusalIsAnError(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ms-Error-Code", "AuthorizationPermissionMismatch")
		w.WriteHeader(http.StatusForbidden)
	}
	server := httptest.NewServer(http.HandlerFunc(refuse))
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", "a2V5")
	b := open(t, "azblob://backups?protocol=http&localemu=true&domain="+strings.TrimPrefix(server.URL, "http://"))
	to, err := b.Create(t.Context(), "daily/shop-0", 7)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = to.Write([]byte("content"))
	if err := to.Close(); err == nil || !strings.Contains(err.Error(), "AuthorizationPermissionMismatch") {
		t.Errorf("got %v", err)
	}
}
