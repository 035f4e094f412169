package proxy

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Fault answers a call instead of the API server. To pass the call on, it calls Next; to cut the connection, Abort.
type Fault func(Call)

// Call is a request that a fault concerns.
type Call struct {
	W http.ResponseWriter
	R *http.Request

	// Next hands the request to the next fault that concerns it or, after the last one, to the API server.
	Next http.Handler

	// Over is closed when the fault has to end. A fault that waits then ends immediately.
	Over <-chan struct{}
}

// Abort cuts the connection. It does not return.
func (Call) Abort() { panic(http.ErrAbortHandler) }

// Rule injects a fault into some requests.
type Rule struct {
	// Matches says which requests are concerned.
	Matches func(Request) bool

	// Skip is how many matching requests pass before the first one that gets the fault. Times is how many requests get the
	// fault; 0 means all.
	Skip, Times int

	Fault Fault

	seen    int
	removed bool
	over    chan struct{}
	running sync.WaitGroup
}

// Add adds a rule. Several rules may concern a request; the newest sees it first.
func (p *Proxy) Add(rule *Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rule.over = make(chan struct{})
	p.rules = slices.Insert(p.rules, 0, rule)
}

// Remove ends a rule, and waits for its faults to end. It must not be called by a fault of the rule.
func (p *Proxy) Remove(rule *Rule) {
	p.mu.Lock()
	rule.end()
	p.rules = slices.DeleteFunc(p.rules, func(r *Rule) bool { return r == rule })
	p.mu.Unlock()
	rule.running.Wait()
}

// Release ends the faults of all rules. Otherwise Remove of one rule could wait for a request that another rule delays.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rule := range p.rules {
		rule.end()
	}
}

// end ends the waits of the rule's faults, and makes the rule concern no further request. The caller has locked the
// proxy.
func (r *Rule) end() {
	if !r.removed {
		r.removed = true
		close(r.over)
	}
}

func (p *Proxy) current() []*Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.rules)
}

// chain returns a handler that passes a request to the first of these rules that concerns it or, without such a rule,
// to last. A rule counts a request when the request reaches it.
func (p *Proxy) chain(rules []*Rule, request Request, last http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, rule := range rules {
			if !p.begin(rule, request) {
				continue
			}
			next := p.chain(rules[i+1:], request, last)
			if request.Verb == "watch" {
				rule.running.Done() // Do not wait for a watch: it may last as long as the operator.
			} else {
				defer rule.running.Done()
				defer p.Delayed(request.Verb+" "+request.Resource, time.Now())
			}
			rule.Fault(Call{w, r, next, rule.over})
			return
		}
		last.ServeHTTP(w, r)
	})
}

func (p *Proxy) begin(rule *Rule, request Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rule.removed || !rule.Matches(request) {
		return false
	}
	rule.seen++
	if rule.seen <= rule.Skip || rule.Times > 0 && rule.seen > rule.Skip+rule.Times {
		return false
	}
	rule.running.Add(1)
	return true
}
