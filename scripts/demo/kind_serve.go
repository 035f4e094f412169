package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// serve serves an empty registry and an empty Git repository on free ports of the address, in plain HTTP, and returns
// the registry's host and port, and the repository's URL. Everybody may push.
func serve(address, dir string) (registryHost, repo string, err error) {
	const name = "memcached-operator.git"
	bare := filepath.Join(dir, "git", name)
	_, err = worktree.Git(context.Background(), "", "init", "--quiet", "--bare", "--initial-branch=main", bare)
	if err != nil {
		return "", "", err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return "", "", err
	}
	images, err := oci.NewRegistry(filepath.Join(dir, "blobs"), io.Discard)
	if err != nil {
		return "", "", err
	}
	if registryHost, err = listen(address, images); err != nil {
		return "", "", err
	}
	gitHost, err := listen(address, &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: dir, Root: "/",
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(bare), "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.receivepack", "GIT_CONFIG_VALUE_0=true",
		},
	})
	return registryHost, "http://" + gitHost + "/" + name, err
}

// listen serves until the program ends.
func listen(address string, handler http.Handler) (hostPort string, err error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return "", fmt.Errorf("%w: the address must be one of this machine", err)
	}
	go func() { log.Print(http.Serve(listener, handler)) }() //nolint:gosec // A cluster of tests needs no timeouts.
	return listener.Addr().String(), nil
}
