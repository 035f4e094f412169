package proxy

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// mostEvents is how many events of a watch may be delayed at the same time. No run has so many.
const mostEvents = 10_000

// event is an event of a watch, and the time when the API server sent it.
type event struct {
	metav1.WatchEvent
	at time.Time
}

// stream is a running watch.
type stream struct {
	request Request
	proxy   *Proxy
	events  chan event

	ctx     context.Context // of the request to the API server
	end     context.CancelFunc
	expired atomic.Bool // whether it ends by the error "too old resource version"
	began   bool        // guarded by the proxy
}

// begin notes that the API server has accepted the watch.
func (s *stream) begin() {
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	if s.proxy.streams[s] {
		s.began = true
		s.proxy.sees(s.request.Resource)
		s.proxy.watched[s.request.Resource] = true
	}
}

// serve reads the events from the API server, and writes them to the operator when they are due.
func (s *stream) serve(w http.ResponseWriter, r *http.Request, apiServer http.Handler) {
	reader, writer := io.Pipe()
	answer := &streamAnswer{ResponseWriter: w, body: writer, began: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			_ = recover() // The reverse proxy panics when one of the two sides has closed its connection.
			_ = writer.Close()
			answer.begin(http.StatusBadGateway)
		}()
		apiServer.ServeHTTP(answer, r)
	}()
	defer func() {
		s.end()
		_ = reader.Close()
		<-done
	}()
	<-answer.began
	media, _, _ := mime.ParseMediaType(answer.Header().Get("Content-Type"))
	info, known := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
	switch {
	case answer.code == http.StatusBadGateway:
		panic(http.ErrAbortHandler)
	case answer.code != http.StatusOK || !known || info.StreamSerializer == nil:
		w.WriteHeader(answer.code)
		_, _ = io.Copy(w, reader)
	default:
		s.begin()
		w.WriteHeader(answer.code)
		_ = http.NewResponseController(w).Flush()
		go s.read(info, reader)
		s.write(info, w)
	}
}

func (s *stream) read(info runtime.SerializerInfo, from io.ReadCloser) {
	defer close(s.events)
	decoder := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(from), info.StreamSerializer.Serializer)
	for {
		e := event{}
		if _, _, err := decoder.Decode(nil, &e.WatchEvent); err != nil {
			return
		}
		e.at = time.Now()
		select {
		case s.events <- e:
		case <-s.ctx.Done():
			return
		}
	}
}

// write writes each event when it is due, until the watch ends.
func (s *stream) write(info runtime.SerializerInfo, w http.ResponseWriter) {
	encoder := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(w), info.StreamSerializer.Serializer)
	for e, more := s.next(); more; e, more = s.next() {
		if encoder.Encode(&e.WatchEvent) != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
	if s.expired.Load() {
		status := apierrors.NewResourceExpired("too old resource version").ErrStatus
		status.Kind, status.APIVersion = "Status", "v1"
		var content bytes.Buffer
		if info.Serializer.Encode(&status, &content) == nil {
			_ = encoder.Encode(&metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: content.Bytes()}})
		}
		return
	}
	if s.ctx.Err() != nil { // Otherwise the API server ended the watch.
		panic(http.ErrAbortHandler)
	}
}

// next waits until an event is due.
func (s *stream) next() (e event, more bool) {
	select {
	case <-s.ctx.Done():
		return e, false
	case e, more = <-s.events:
		return e, more && s.await(e)
	}
}

// await waits until no fault delays the event. It returns false if the watch ends first.
func (s *stream) await(e event) bool {
	for {
		due, over := s.due(e)
		wait := time.Until(due)
		if wait <= 0 {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-over:
		case <-s.ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// due returns until when a fault delays the event, and a channel that is closed when this fault ends.
func (s *stream) due(e event) (at time.Time, over <-chan struct{}) {
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	for _, late := range s.proxy.lates {
		by := late.By
		if late.Silent {
			by = time.Hour
		}
		if until := e.at.Add(by); by > 0 && late.Matches(s.request) && until.After(at) {
			at, over = until, late.over
			late.delayed = late.delayed || time.Now().Before(until)
		}
	}
	return at, over
}

// streamAnswer takes the API server's answer to a watch.
type streamAnswer struct {
	http.ResponseWriter
	body  io.Writer
	began chan struct{}
	code  int
}

// WriteHeader implements http.ResponseWriter. The header is sent later.
func (a *streamAnswer) WriteHeader(code int) { a.begin(code) }

// begin notes the code of the answer. It does nothing after the first time.
func (a *streamAnswer) begin(code int) {
	if a.code == 0 && code >= http.StatusOK {
		a.code = code
		close(a.began)
	}
}

// Write implements http.ResponseWriter.
func (a *streamAnswer) Write(b []byte) (int, error) {
	a.begin(http.StatusOK)
	return a.body.Write(b)
}

// FlushError is for http.ResponseController: each event is flushed when it is written.
func (a *streamAnswer) FlushError() error { return nil }
