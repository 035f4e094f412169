package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// openShiftGroup is an API group that every OpenShift cluster has, and no other cluster.
const openShiftGroup = "security.openshift.io"

// askAgain is how long the operator waits before it repeats a failed request for the platform, however many caches need
// the answer.
const askAgain = 5 * time.Second

// askTimeout limits how long the request may take.
const askTimeout = 30 * time.Second

// platform detects whether the operator runs on OpenShift or on another Kubernetes, when a reconciliation first needs
// to know it. The answer is kept until the watch reports a change.
type platform struct {
	discovery *discovery.DiscoveryClient
	questions singleflight.Group

	mu      sync.Mutex // Not locked during a request.
	known   plan.Platform
	asked   time.Time
	problem error
}

func newPlatform(config *rest.Config) (*platform, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up discovery: %w", err)
	}
	return &platform{discovery: client}, nil
}

// find returns the platform, or why it is unknown. Concurrent reconciliations share one request, and each waits no
// longer than its own context allows.
func (p *platform) find(ctx context.Context) (plan.Platform, error) {
	if !p.isToBeAsked() {
		return p.recall()
	}
	answer := p.questions.DoChan("", func() (any, error) {
		if p.isToBeAsked() { // Otherwise another request ended after the caller's check.
			p.ask(context.WithoutCancel(ctx))
		}
		return nil, nil
	})
	select {
	case <-answer:
		return p.recall()
	case <-ctx.Done():
		return "", fmt.Errorf("wait for the API groups of the API server: %w", ctx.Err())
	}
}

func (p *platform) isToBeAsked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known == "" && time.Since(p.asked) > askAgain
}

func (p *platform) recall() (plan.Platform, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known, p.problem
}

// ask asks the API server for the platform. If the watch has reported a platform in the meantime, the reported platform
// is newer, and the answer is ignored.
func (p *platform) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	found, problem := ask(ctx, p.discovery)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = time.Now()
	if p.known == "" {
		p.known, p.problem = found, problem
	}
}

// becomes records the platform, and returns whether it changed.
func (p *platform) becomes(found plan.Platform) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.known
	p.known, p.problem = found, nil
	return before != "" && before != found
}

func ask(ctx context.Context, client *discovery.DiscoveryClient) (plan.Platform, error) {
	groups, err := client.ServerGroupsWithContext(ctx)
	if err != nil {
		return "", fmt.Errorf("ask the API server for its API groups: %w", err)
	}
	known := sets.New[string]()
	for _, group := range groups.Groups {
		known.Insert(group.Name)
	}
	switch {
	case known.Has(openShiftGroup):
		return plan.OpenShift, nil
	case !known.Has(appsv1.GroupName):
		return "", errors.New("the API server's list of API groups has no group apps") // Every API server has this group.
	}
	return plan.Kubernetes, nil
}
