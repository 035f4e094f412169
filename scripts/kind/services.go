package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/registry"
)

const repository = "memcached-operator.git"

// services are a registry and a Git repository, in plain HTTP, for a cluster and for this machine.
type services struct {
	Registry string // host and port
	Git      string // URL

	servers []*http.Server
}

// serve begins to serve on ports of the address that are free, with what is stored in dir.
func serve(address, dir string) (*services, error) {
	git, err := gitHandler(filepath.Join(dir, "git"))
	if err != nil {
		return nil, err
	}
	blobs := filepath.Join(dir, "registry")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return nil, err
	}
	images := registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
	s := &services{}
	if s.Registry, err = s.listen(address, images); err != nil {
		return nil, err
	}
	host, err := s.listen(address, git)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.Git = "http://" + host + "/" + repository
	return s, nil
}

func (s *services) listen(address string, handler http.Handler) (hostPort string, err error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return "", fmt.Errorf("%w: the address must be one of this machine", err)
	}
	server := &http.Server{Handler: handler} //nolint:gosec // It serves a cluster of tests for some minutes.
	s.servers = append(s.servers, server)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Print(err)
		}
	}()
	return listener.Addr().String(), nil
}

// Close ends what serve began.
func (s *services) Close() {
	for _, server := range s.servers {
		_ = server.Close() // The program ends.
	}
}

// gitHandler makes an empty repository, and serves it by git's own program: everybody may read and push.
func gitHandler(dir string) (http.Handler, error) {
	bare := filepath.Join(dir, repository)
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", bare},
		{"-C", bare, "config", "http.receivepack", "true"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	return &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: dir, Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
	}, nil
}
