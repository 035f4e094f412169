package reach

// Connections to Pods by port-forward.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// Forward connects to Pods through the API server, as kubectl port-forward does, but opens no port on this computer,
// because other users of the computer could connect to such a port, too.
type Forward struct{ Config *rest.Config }

// Dial connects to a port of a Pod.
func (f Forward) Dial(ctx context.Context, pod *corev1.Pod, port int32) (net.Conn, error) {
	dialer, err := f.dialer(pod)
	if err != nil {
		return nil, err
	}
	type result struct {
		session httpstream.Connection
		err     error
	}
	dialed := make(chan result, 1)
	go func() {
		session, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		dialed <- result{session, err}
	}()
	select {
	case r := <-dialed:
		if r.err != nil {
			return nil, explained(r.err, pod)
		}
		return open(r.session, port)
	case <-ctx.Done(): // The dialer takes no context.
		go func() {
			if r := <-dialed; r.err == nil {
				_ = r.session.Close()
			}
		}()
		return nil, fmt.Errorf("the API server forwards no port of Pod %s: %w", pod.Name, ctx.Err())
	}
}

// dialer returns kubectl's dialer. It connects with WebSocket, or with SPDY if the API server or a proxy does not
// support WebSocket.
func (f Forward) dialer(pod *corev1.Pod) (httpstream.Dialer, error) {
	set, err := kubernetes.NewForConfig(f.Config)
	if err != nil {
		return nil, err
	}
	url := set.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).
		SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(f.Config)
	if err != nil {
		return nil, err
	}
	fallback := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, f.Config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(websocket, fallback, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// explained names the right that is missing. It has to look for a text, because the API server refuses an upgraded
// connection without a status.
func explained(err error, pod *corev1.Pod) error {
	if apierrors.IsForbidden(err) || strings.Contains(err.Error(), "forbidden") {
		return fmt.Errorf("you have no right to create pods/portforward in namespace %s: %w", pod.Namespace, err)
	}
	return fmt.Errorf("forward a port of Pod %s: %w", pod.Name, err)
}

// open opens the two streams of a connection to a port.
func open(session httpstream.Connection, port int32) (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(int(port)))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := session.CreateStream(headers)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	_ = failures.Close() // Only the API server writes to it.
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := session.CreateStream(headers)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	near, far := net.Pipe() // A pipe has deadlines, but a stream has none.
	f := &forwarded{Conn: near, session: session}
	go f.receive(data, failures, far)
	go func() {
		_, _ = io.Copy(data, far)
		_ = data.Close()
	}()
	return f, nil
}

// forwarded is a forwarded connection.
type forwarded struct {
	net.Conn

	session httpstream.Connection
	failure atomic.Pointer[error]
}

// receive copies the data that the Pod sends, and records the error with which the connection ends.
func (f *forwarded) receive(data, failures io.Reader, far net.Conn) {
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		const longest = 4 << 10
		if text, _ := io.ReadAll(io.LimitReader(failures, longest)); len(text) > 0 {
			f.failure.Store(new(errors.New(strings.TrimSpace(string(text)))))
		}
	}()
	_, _ = io.Copy(far, data)
	select {
	case <-noted:
	case <-time.After(time.Second): // The API server may be unreachable.
	}
	_ = far.Close()
}

// Read returns the error of the kubelet after the end of the data.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if failure := f.failure.Load(); errors.Is(err, io.EOF) && failure != nil {
		err = *failure
	}
	return n, err
}

// Close closes the connection, and ends the forwarding.
func (f *forwarded) Close() error { return errors.Join(f.Conn.Close(), f.session.Close()) }
