package bucket

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

// known returns snapshot.ErrMissing for an object that does not exist. gcsblob also reports a missing object if rights
// are missing, and azureblob if the account does not exist. In these two cases, known does not return ErrMissing.
func known(err error) error {
	if google, ok := errors.AsType[*googleapi.Error](err); ok && google.Code == http.StatusForbidden {
		return fmt.Errorf("the credentials have no right to the bucket: grant the role Storage Object User: %w", err)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return err
	}
	if gcerrors.Code(err) == gcerrors.NotFound {
		return snapshot.ErrMissing
	}
	return err
}
