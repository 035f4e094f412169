package render

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestObjectsMatchTheirGoldenFilesWithSlots(t *testing.T) {
	p := planned(t, func(s *cachev1.MemcachedSpec) {
		s.Size, s.Slots = new(int32(2)), &cachev1.Slots{Mode: cachev1.SlotsClusterIP}
	}, defaults)
	p.Slots = &plan.Slots{Services: true, Family: corev1.IPv4Protocol, Decision: slots.Decision{Listed: 2, Endpoints: []slots.Endpoint{
		{Slot: 0, Pod: "cache-1-a", UID: "uid-a", IP: "10.0.0.1", Ready: true},
		{Slot: 1, Pod: "cache-1-b", UID: "uid-b", IP: "10.0.0.2"},
	}}}
	objects := slotObjects(p)
	if len(objects) != 6 {
		t.Errorf("%d objects", len(objects))
	}
	var configurations []any
	for _, object := range objects {
		configurations = append(configurations, object.Configuration)
	}
	compareGolden(t, "testdata/slots.yaml", configurations...)
}
