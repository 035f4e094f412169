package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Wait waits for a time, and reports whether the whole time passed. It returns earlier if the fault ends, or if the
// operator gives up the request.
func (c Call) Wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.Over:
	case <-c.R.Context().Done():
	}
	return false
}

// Refuse answers with an error instead of passing the request on. retryAfter is the value of the header Retry-After, in
// seconds; 0 means no such header.
func Refuse(code, retryAfter int) Fault {
	return func(c Call) { refuse(c, code, retryAfter) }
}

func refuse(c Call, code, retryAfter int) {
	status := statusOf(c, code, retryAfter)
	content, err := json.Marshal(status)
	if err != nil {
		panic(fmt.Sprintf("a status is always marshalled: %v", err))
	}
	c.W.Header().Set("Content-Type", "application/json")
	if retryAfter > 0 {
		c.W.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	c.W.WriteHeader(code)
	_, _ = c.W.Write(content)
}

// statusOf returns the Status object with which the API server answers in case of this error.
func statusOf(c Call, code, retryAfter int) metav1.Status {
	request := describe(c.R)
	var err *apierrors.StatusError
	switch resource := (schema.GroupResource{Resource: request.Resource}); code {
	case http.StatusConflict:
		err = apierrors.NewConflict(resource, request.Name, fmt.Errorf("the object has been modified; please apply your "+
			"changes to the latest version and try again"))
	case http.StatusGone:
		err = apierrors.NewResourceExpired("too old resource version")
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(fmt.Errorf("etcdserver: leader changed"))
	case http.StatusGatewayTimeout:
		err = apierrors.NewTimeoutError("request did not complete within the allotted timeout", retryAfter)
	default:
		err = apierrors.NewGenericServerResponse(code, request.Verb, resource, request.Name, "", retryAfter, true)
	}
	err.ErrStatus.Kind, err.ErrStatus.APIVersion = "Status", "v1"
	return err.ErrStatus
}

// Cut cuts the connection instead of answering.
func Cut() Fault { return Call.Abort }

// Hang does not answer for a time, and then cuts the connection. If the time is 0, it waits until the fault ends.
func Hang(d time.Duration) Fault {
	if d == 0 {
		d = time.Hour
	}
	return func(c Call) {
		c.Wait(d)
		c.Abort()
	}
}

func (c Call) abortWatch() {
	if describe(c.R).Verb == "watch" {
		c.Abort()
	}
}

// CarriedOut passes the request on, and replaces the API server's answer by a fault. A watch is not passed on; it only
// gets the fault.
func CarriedOut(instead Fault) Fault {
	return func(c Call) {
		if describe(c.R).Verb != "watch" {
			c.CarryOut()
		}
		instead(c)
	}
}

// Slow passes the request on after a time.
func Slow(d time.Duration) Fault {
	return func(c Call) {
		c.Wait(d)
		c.Next.ServeHTTP(c.W, c.R)
	}
}

// Half cuts the connection in the middle of the answer's body. Watches are cut immediately: their bodies have no end.
func Half() Fault {
	return func(c Call) {
		c.abortWatch()
		answer := c.CarryOut()
		answer.sendHeader(c.W)
		answer.send(c.W, answer.body.Bytes()[:answer.body.Len()/2])
		c.Abort()
	}
}

// pieces is the approximate number of pieces in which Trickle sends an answer.
const pieces = 8

// Trickle sends the answer's body in pieces, with pauses between them. It cuts the connection of a watch immediately.
func Trickle(d time.Duration) Fault {
	return func(c Call) {
		c.abortWatch()
		answer := c.CarryOut()
		answer.sendHeader(c.W)
		for left := answer.body.Bytes(); len(left) > 0; {
			n := min(answer.body.Len()/pieces+1, len(left))
			answer.send(c.W, left[:n])
			left = left[n:]
			c.Wait(d / pieces)
		}
	}
}

// Dated makes the API server's clock appear to be ahead: it changes the header Date of the answer, from which the
// operator learns the time of that clock.
func Dated(ahead time.Duration) Fault {
	return func(c Call) {
		c.Next.ServeHTTP(&dated{ResponseWriter: c.W, ahead: ahead}, c.R)
	}
}

type dated struct {
	http.ResponseWriter
	ahead time.Duration
}

// WriteHeader implements http.ResponseWriter.
func (d *dated) WriteHeader(code int) {
	if date, err := http.ParseTime(d.Header().Get("Date")); err == nil {
		d.Header().Set("Date", date.Add(d.ahead).UTC().Format(http.TimeFormat))
	}
	d.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (d *dated) Unwrap() http.ResponseWriter { return d.ResponseWriter }
