package endpoint

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
)

func TestServingEndsAfterTheRequestsUnderWay(t *testing.T) {
	g := gomega.NewWithT(t)
	address := unused.Address(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, address, Metrics(func(context.Context) []exporter.Sample {
			close(begun)
			<-finish
			return nil
		}))
	}()
	answers := make(chan *http.Response, 1)
	go func() {
		for { // until the server listens
			if answer, err := http.Get("http://" + address + "/metrics"); err == nil {
				answers <- answer
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	g.Eventually(begun).WithTimeout(2 * time.Minute).Should(gomega.BeClosed())
	cancel()
	g.Consistently(ended).WithTimeout(100 * time.Millisecond).ShouldNot(gomega.Receive())
	close(finish)
	var answer *http.Response
	g.Eventually(answers).WithTimeout(2 * time.Minute).Should(gomega.Receive(&answer))
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("%s, %s", answer.Status, answer.Header)
	}
	var err error
	g.Eventually(ended).WithTimeout(2 * time.Minute).Should(gomega.Receive(&err))
	if err != nil {
		t.Error(err)
	}
}

func TestAnAddressThatIsTakenIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := Serve(t.Context(), listener.Addr().String(), http.NewServeMux()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("error %v", err)
	}
	if err := Serve(t.Context(), "0", nil); err != nil {
		t.Errorf("turned off: %v", err)
	}
}
