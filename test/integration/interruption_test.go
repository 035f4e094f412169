package integration

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
)

// interruption happens after the operator has read an object, and before its write reaches the API server.
type interruption struct {
	// request matches the method and the URL of the write.
	request *regexp.Regexp

	// before happens before the API server gets the write, and after before the operator gets the answer.
	before, after func()

	begun  atomic.Bool
	answer chan int // the status code, once
}

// during has something happen once, right before and right after the API server sees a request of the operator.
func (p *proxy) during(request string, before, after func()) *interruption {
	m := &interruption{request: regexp.MustCompile(request), before: before, after: after, answer: make(chan int, 1)}
	p.interruption.Store(m)
	return m
}

func (m *interruption) serve(forward http.Handler, w http.ResponseWriter, r *http.Request) {
	if m == nil || !m.request.MatchString(r.Method+" "+r.URL.String()) || !m.begun.CompareAndSwap(false, true) {
		forward.ServeHTTP(w, r)
		return
	}
	m.before()
	answer := httptest.NewRecorder()
	forward.ServeHTTP(answer, r)
	m.after()
	m.answer <- answer.Code
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // An operator that hung up needs no answer.
}
