package actions

import (
	"context"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// part is a process of the control plane that hangs.
type part struct {
	Part string          `json:"part"`
	For  metav1.Duration `json:"for"`
}

const (
	apiServer = "kube-apiserver"
	etcd      = "etcd"

	// longestPartHang is shorter than the timeouts of the control plane's clients.
	longestPartHang = 5 * time.Second
	startsWithin    = time.Minute
)

func apiServers() []Action {
	return []Action{
		{plan.Action{Name: "restart the API server", Weight: 1}, restartAPIServer},
		{plan.Action{Name: "the control plane hangs", Weight: 2, Draw: func(r *rand.Rand) any {
			return part{[]string{apiServer, etcd}[r.IntN(2)], upTo(r, longestPartHang)}
		}}, given(hangPart)},
	}
}

// restartAPIServer kills the API server. The supervisor of the cluster starts it again.
func restartAPIServer(ctx context.Context, w *world.World, _ plan.Step) error {
	if w.Cluster.Kill(apiServer) == nil { // It may be starting.
		world.HadEffect(ctx)
	}
	w.Later(func(ctx context.Context) error { return isReady(ctx, w) })
	return nil
}

func isReady(ctx context.Context, w *world.World) error {
	config, err := w.Cluster.RESTConfig()
	if err != nil {
		return err
	}
	kube, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	return world.Await(ctx, startsWithin, func(ctx context.Context) (bool, error) {
		_, err := kube.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil, err
	})
}

// hangPart stops a process and resumes it. Its connections stay open in the meantime.
func hangPart(ctx context.Context, w *world.World, _ plan.Step, p part) error {
	if w.Cluster.Pause(p.Part) == nil { // It may be starting.
		world.HadEffect(ctx)
	}
	w.Later(func(ctx context.Context) error { return isReady(ctx, w) })
	began := time.Now()
	w.During(p.For.Duration, func() {
		_ = w.Cluster.Resume(p.Part)
		w.Delayed(p.Part+" hangs", began)
	})
	return nil
}
