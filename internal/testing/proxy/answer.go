package proxy

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Answer is an answer of the API server that the operator has not received yet.
type Answer struct {
	code   int
	header http.Header
	body   bytes.Buffer
	cut    bool // the API server ended the connection
}

// answerTimeout is how long to wait for the API server, which may hang.
const answerTimeout = 20 * time.Second

// CarryOut passes the request on and returns the answer. The API server carries out the request even if the operator is
// killed in the meantime.
func (c Call) CarryOut() (answer *Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.R.Context()), answerTimeout)
	defer cancel()
	answer = &Answer{code: http.StatusOK, header: http.Header{}}
	defer func() {
		if problem := recover(); problem == http.ErrAbortHandler { //nolint:errorlint // a panic's value
			answer.cut = true
		} else if problem != nil {
			panic(problem)
		}
	}()
	c.Next.ServeHTTP(answer, c.R.WithContext(ctx))
	return answer
}

// Header implements http.ResponseWriter.
func (a *Answer) Header() http.Header { return a.header }

// Code returns the status code.
func (a *Answer) Code() int { return a.code }

// Write implements http.ResponseWriter.
func (a *Answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// WriteHeader implements http.ResponseWriter.
func (a *Answer) WriteHeader(code int) {
	if code >= http.StatusOK { // A lower code only announces an answer.
		a.code = code
	}
}

// SendTo sends the answer to the operator, and returns when it is on its way.
func (a *Answer) SendTo(w http.ResponseWriter) {
	a.sendHeader(w)
	a.send(w, a.body.Bytes())
}

func (a *Answer) sendHeader(w http.ResponseWriter) {
	if a.cut {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.code)
}

func (*Answer) send(w http.ResponseWriter, part []byte) {
	_, _ = w.Write(part)
	_ = http.NewResponseController(w).Flush()
}
