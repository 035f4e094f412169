package plan

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
)

var defaults = Defaults{Image: "registry.example.com/memcached:1", Architectures: []string{"arm64"}, UserID: new(int64(11211))}

func memcachedWith(spec cachev1.MemcachedSpec) *cachev1.Memcached {
	return &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"},
		Spec:       spec,
	}
}

func TestCompute(t *testing.T) {
	plain := Plan{
		Name: "cache", Namespace: "team", UID: "uid-1",
		Size: 1, Image: defaults.Image, Architectures: defaults.Architectures, UserID: defaults.UserID,
		Memcached: memcached.Settings{ItemMemory: 64 << 20, Port: 11211, MaxConnections: 1024, Threads: 4},
	}
	tests := map[string]struct {
		spec cachev1.MemcachedSpec
		want func(*Plan)
	}{
		"an empty spec gets every default": {
			want: func(*Plan) {},
		},
		"a size of zero is kept, not taken for a missing one": {
			spec: cachev1.MemcachedSpec{Size: new(int32(0))},
			want: func(p *Plan) { p.Size = 0 },
		},
		"an image of the user's own takes the place of the default": {
			spec: cachev1.MemcachedSpec{Image: "localhost:5000/team/memcached:1.6@sha256:" + digest},
			want: func(p *Plan) { p.Image = "localhost:5000/team/memcached:1.6@sha256:" + digest },
		},
		"an image without a tag is an image": {
			spec: cachev1.MemcachedSpec{Image: "memcached"},
			want: func(p *Plan) { p.Image = "memcached" },
		},
		"memory is rounded down to memcached's mebibytes": {
			spec: cachev1.MemcachedSpec{Memory: new(resource.MustParse("100M"))},
			want: func(p *Plan) { p.Memcached.ItemMemory = 95 << 20 },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := plain
			tc.want(&want)
			got, err := Compute(memcachedWith(tc.spec), defaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestComputeRefusesAnImageThatIsNoReference(t *testing.T) {
	for _, image := range []string{"Memcached", "memcached:", "memcached@sha256:12", "a b", "registry.example.com/"} {
		_, err := Compute(memcachedWith(cachev1.MemcachedSpec{Image: image}), defaults)
		var invalid *InvalidSpec
		if !errors.As(err, &invalid) || invalid.Field != "spec.image" || invalid.Value != image {
			t.Errorf("image %q: got %v, want an InvalidSpec that names field and value", image, err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	p, err := Compute(memcachedWith(cachev1.MemcachedSpec{}), defaults)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Endpoint(), "cache.team.svc:11211"; got != want {
		t.Errorf("endpoint %q, want %q", got, want)
	}
}

func FuzzComputeNeverPanics(f *testing.F) {
	f.Add(int32(3), "memcached:1.6", int64(64<<20))
	f.Add(int32(-1), "", int64(0))
	f.Fuzz(func(t *testing.T, size int32, image string, memory int64) {
		spec := cachev1.MemcachedSpec{Size: &size, Image: image, Memory: resource.NewQuantity(memory, resource.BinarySI)}
		p, err := Compute(memcachedWith(spec), defaults)
		var invalid *InvalidSpec
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("an error that is no InvalidSpec: %v", err)
		}
		if err == nil && p.Image == "" {
			t.Fatal("a plan without an image")
		}
	})
}
