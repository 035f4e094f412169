package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// between starts a proxy to a server, and returns its address.
func between(t *testing.T, server http.HandlerFunc, watches ...string) (*Proxy, string) {
	t.Helper()
	behind := httptest.NewServer(server)
	t.Cleanup(behind.Close)
	p, err := Start(&rest.Config{Host: behind.URL}, watches...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, "http://" + p.listener.Addr().String()
}

const deployment = "/apis/apps/v1/namespaces/seed-1/deployments/a"

// send returns the answer, which is "cut" if the connection ended before the answer did.
func send(ctx context.Context, t *testing.T, method, url string) (header http.Header, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "cut"
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return response.Header, "cut after " + string(body)
	}
	if err != nil || strings.HasPrefix(string(body), "{") { // an error of the API server
		return response.Header, response.Status
	}
	return response.Header, string(body)
}

func TestAFaultReplacesTheAnswer(t *testing.T) {
	tests := map[string]struct {
		fault   Fault
		want    string
		carried int32 // requests that reached the API server
		header  map[string]string
		least   time.Duration
	}{
		"conflict":                         {fault: Refuse(409, 0), want: "409 Conflict"},
		"too many requests":                {fault: Refuse(429, 0), want: "429 Too Many Requests"},
		"too many requests, come back":     {fault: Refuse(429, 2), want: "429 Too Many Requests", header: map[string]string{"Retry-After": "2"}},
		"internal error":                   {fault: Refuse(500, 0), want: "500 Internal Server Error"},
		"unavailable":                      {fault: Refuse(503, 0), want: "503 Service Unavailable"},
		"timeout":                          {fault: Refuse(504, 0), want: "504 Gateway Timeout"},
		"too old":                          {fault: Refuse(410, 0), want: "410 Gone"},
		"cut":                              {fault: Cut(), want: "cut"},
		"hang":                             {fault: Hang(20 * time.Millisecond), want: "cut", least: 20 * time.Millisecond},
		"carried out, with another answer": {fault: CarriedOut(Refuse(500, 0)), want: "500 Internal Server Error", carried: 1},
		"carried out, then cut":            {fault: CarriedOut(Cut()), want: "cut", carried: 1},
		"slow":                             {fault: Slow(20 * time.Millisecond), want: "0123456789", carried: 1, least: 20 * time.Millisecond},
		"half of the body":                 {fault: Half(), want: "cut after 01234", carried: 1},
		"slow body":                        {fault: Trickle(20 * time.Millisecond), want: "0123456789", carried: 1, least: 10 * time.Millisecond},
		"another clock": {fault: Dated(time.Hour), want: "0123456789", carried: 1,
			header: map[string]string{"Date": "Sat, 01 Jan 2000 13:00:00 GMT"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var carried atomic.Int32
			p, url := between(t, func(w http.ResponseWriter, _ *http.Request) {
				carried.Add(1)
				w.Header().Set("Date", "Sat, 01 Jan 2000 12:00:00 GMT")
				_, _ = w.Write([]byte("0123456789"))
			})
			p.Add(&Rule{Matches: Request.IsWrite, Fault: tc.fault})
			started := time.Now()
			header, got := send(t.Context(), t, http.MethodPatch, url+deployment)
			if got != tc.want || carried.Load() != tc.carried || time.Since(started) < tc.least {
				t.Errorf("answer %q after %v, %d carried out, want %q after at least %v, %d",
					got, time.Since(started), carried.Load(), tc.want, tc.least, tc.carried)
			}
			for name, want := range tc.header {
				if got := header.Get(name); got != want {
					t.Errorf("header %s is %q, want %q", name, got, want)
				}
			}
			if _, got := send(t.Context(), t, http.MethodGet, url+deployment); got != "0123456789" {
				t.Errorf("a read got %q, although the fault is one of writes", got)
			}
		})
	}
}

func TestARuleSkipsSomeRequestsAndEndsAfterOthers(t *testing.T) {
	p, url := between(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	p.Add(&Rule{Matches: Request.IsWrite, Skip: 1, Times: 2, Fault: Refuse(500, 0)})
	var got []string
	for _, method := range []string{"PATCH", "GET", "PATCH", "PATCH", "PATCH"} {
		_, answer := send(t.Context(), t, method, url+deployment)
		got = append(got, answer)
	}
	want := []string{"ok", "ok", "500 Internal Server Error", "500 Internal Server Error", "ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestTheNewestRuleComesFirstAndTheOthersFollow(t *testing.T) {
	var mu, order = make(chan struct{}, 1), []string{}
	p, url := between(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	note := func(name string) Fault {
		return func(c Call) {
			mu <- struct{}{}
			order = append(order, name)
			<-mu
			c.Next.ServeHTTP(c.W, c.R)
		}
	}
	p.Add(&Rule{Matches: Request.IsWrite, Fault: note("old")})
	p.Add(&Rule{Matches: Request.IsWrite, Fault: note("new")})
	if _, got := send(t.Context(), t, http.MethodPatch, url+deployment); got != "ok" {
		t.Errorf("answer %q", got)
	}
	if diff := cmp.Diff([]string{"new", "old"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestAWriteIsCarriedOutAlthoughTheOperatorHasEnded(t *testing.T) {
	reached, carried := make(chan struct{}), make(chan error, 1)
	p, url := between(t, func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		time.Sleep(50 * time.Millisecond)
		carried <- r.Context().Err()
	})
	p.Add(&Rule{Matches: Request.IsWrite, Fault: CarriedOut(Cut())})
	ctx, kill := context.WithCancel(t.Context())
	go func() { <-reached; kill() }()
	send(ctx, t, http.MethodPatch, url+deployment)
	if err := <-carried; err != nil {
		t.Errorf("the write was given up: %v", err)
	}
}

func TestAnAnswerThatTheAPIServerCutsIsCutForTheOperator(t *testing.T) {
	p, url := between(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	var carriedOut atomic.Bool
	p.Add(&Rule{Matches: Request.IsWrite, Fault: func(c Call) {
		answer := c.CarryOut()
		carriedOut.Store(answer.cut)
		answer.SendTo(c.W)
	}})
	if _, got := send(t.Context(), t, http.MethodPatch, url+deployment); got != "cut" || !carriedOut.Load() {
		t.Errorf("answer %q, noted %t, want that it is cut", got, carriedOut.Load())
	}
}

func TestARequestIsDescribedByItsPath(t *testing.T) {
	tests := map[string]Request{
		"GET /api":                                        {Verb: "get"},
		"GET /apis/apps/v1":                               {Verb: "get"},
		"GET /api/v1/namespaces/x/pods":                   {Verb: "list", Resource: "pods"},
		"GET /api/v1/namespaces/x/pods?watch=true":        {Verb: "watch", Resource: "pods"},
		"GET /api/v1/namespaces/x/secrets/s":              {Verb: "get", Resource: "secrets", Name: "s"},
		"GET /api/v1/nodes":                               {Verb: "list", Resource: "nodes"},
		"GET /api/v1/namespaces/x":                        {Verb: "get", Resource: "namespaces", Name: "x"},
		"PATCH " + deployment:                             {Verb: "patch", Resource: "deployments", Name: "a"},
		"DELETE " + deployment:                            {Verb: "delete", Resource: "deployments", Name: "a"},
		"POST /apis/events.k8s.io/v1/namespaces/x/events": {Verb: "create", Resource: "events"},
		"PATCH /apis/cache.example.com/v1/namespaces/x/memcacheds/a/status": {
			Verb: "patch", Resource: "memcacheds", Name: "a", Subresource: "status"},
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			method, path, _ := strings.Cut(line, " ")
			got := describe(httptest.NewRequest(method, path, http.NoBody))
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Request{}, "Query")); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachClassHasRequestsOfTheOperator(t *testing.T) {
	requests := []Request{
		{Verb: "patch", Resource: "memcacheds", Subresource: "status"}, {Verb: "create", Resource: "events"},
		{Verb: "get", Resource: "secrets"}, {Verb: "delete", Resource: "poddisruptionbudgets"},
		{Verb: "patch", Resource: "deployments"}, {Verb: "patch", Resource: "services"},
		{Verb: "patch", Resource: "networkpolicies"}, {Verb: "watch", Resource: "pods"},
	}
	for _, class := range Classes() {
		count := 0
		for _, request := range requests {
			if Named(class.Name)(request) {
				count++
			}
		}
		if count == 0 || count == len(requests) {
			t.Errorf("class %q contains %d of %d requests", class.Name, count, len(requests))
		}
	}
}

func TestALateRequestOfAnEarlierProcessKeepsItsMarker(t *testing.T) {
	type seen struct{ agent, path string }
	got := make(chan seen, 1)
	p, _ := between(t, func(_ http.ResponseWriter, r *http.Request) { got <- seen{r.UserAgent(), r.URL.Path} })
	marks := map[string]bool{}
	var processes []*rest.Config
	for _, name := range []string{"first", "second"} {
		path := filepath.Join(t.TempDir(), name)
		if err := p.Kubeconfig(path); err != nil {
			t.Fatal(err)
		}
		p.Reset()
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			t.Fatal(err)
		}
		processes = append(processes, config)
	}
	for _, process := range []*rest.Config{processes[1], processes[0], processes[1]} {
		process.UserAgent = "operator"
		kube, err := kubernetes.NewForConfig(process)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = kube.AppsV1().Deployments("seed-1").Get(t.Context(), "a", metav1.GetOptions{}) // The answer is empty.
		request := <-got
		_, started, _ := strings.Cut(request.agent, "operator"+Mark)
		if _, err := time.Parse(time.RFC3339Nano, started); err != nil || request.path != deployment {
			t.Errorf("%+v, %v, want a marker and the path %s", request, err, deployment)
		}
		if !strings.HasSuffix(process.Host, started) {
			t.Errorf("the marker %q is not that of the process at %s", started, process.Host)
		}
		marks[started] = true
	}
	if len(marks) != len(processes) {
		t.Errorf("marks %v, want one for each process", marks)
	}
}

func TestFaultsMatchTheRequestsOfAProcess(t *testing.T) {
	p, _ := between(t, func(http.ResponseWriter, *http.Request) {})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := p.Kubeconfig(path); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	var got Request
	p.Add(&Rule{Fault: Cut(), Matches: func(r Request) bool { got = r; return true }})
	send(t.Context(), t, http.MethodPatch, config.Host+deployment)
	if diff := cmp.Diff(Request{Verb: "patch", Resource: "deployments", Name: "a"}, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
