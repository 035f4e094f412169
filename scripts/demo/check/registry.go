package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// registryPatience is how long a registry may take for an answer.
const registryPatience = 15 * time.Second

// checkRegistry begins to push each image, and takes that back.
func checkRegistry(_ context.Context, s *Subject) Result {
	for _, image := range s.Images().All() {
		ref, err := name.ParseReference(image)
		if err != nil {
			return failed(err.Error(), "name it as in --registry registry.example.com/team")
		}
		if err := remote.CheckPushPermission(ref, authn.DefaultKeychain, impatient()); err != nil {
			return failed(fmt.Sprintf("%s can't be pushed: %v", image, err), registryRemedy(ref, err))
		}
	}
	found := fmt.Sprintf("%s takes %d images", s.Registry, len(s.Images().All()))
	host, _, _ := strings.Cut(s.Registry, "/")
	if isLoopback(host) {
		return warning(found, host+" must mean the same registry on the nodes; this can't be seen from here")
	}
	return passed(found)
}

func registryRemedy(ref name.Reference, err error) string {
	registry := ref.Context().RegistryStr()
	var refused *transport.Error
	if !errors.As(err, &refused) {
		return "is " + registry + " the right name, and does it run? curl -v " + registry + "/v2/ shows what answers"
	}
	switch refused.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "log in, as somebody who may push there: docker login " + registry + " (or podman login)"
	case http.StatusNotFound:
		return "make the repository " + ref.Context().RepositoryStr() + " first, if this registry wants that, as ECR does"
	}
	return "is " + registry + " a registry, and is --registry its host and path?"
}

// impatient is a transport for a registry that may not be there.
func impatient() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: registryPatience}).DialContext
	t.ResponseHeaderTimeout = registryPatience
	return t
}

func isLoopback(hostPort string) bool {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
