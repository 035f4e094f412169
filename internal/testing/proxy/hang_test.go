package proxy

import (
	"context"
	"net/http"
	"testing"
	"time"
)

func TestAHangingRequestEndsWithTheFault(t *testing.T) {
	p, url := between(t, func(http.ResponseWriter, *http.Request) {})
	rule := &Rule{Matches: Request.IsWrite, Fault: Hang(0)}
	p.Add(rule)
	around := &Rule{Matches: Request.IsWrite, Fault: CarriedOut(Cut())} // Its request has to wait for the rule that hangs.
	p.Add(around)
	answers := make(chan string)
	go func() {
		_, answer := send(context.WithoutCancel(t.Context()), t, http.MethodPatch, url+deployment)
		answers <- answer
	}()
	for p.Idle(); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		seen := rule.seen
		p.mu.Unlock()
		if seen > 0 {
			break
		}
	}
	p.Release()
	p.Remove(around)
	p.Remove(rule)
	if got := <-answers; got != "cut" {
		t.Errorf("answer %q, want that the connection is cut", got)
	}
}
