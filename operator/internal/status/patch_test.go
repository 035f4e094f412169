package status

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/wI2L/jsondiff"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestAPatchHasOnlyWhatChanged(t *testing.T) {
	slot := func(name, pod string, state cachev1.SlotState) cachev1.SlotStatus {
		return cachev1.SlotStatus{Name: name, Pod: pod, State: state}
	}
	before := cachev1.MemcachedStatus{
		ReadyReplicas: 2, Nodes: []string{"a", "c", "e"}, Endpoint: "x",
		Slots: []cachev1.SlotStatus{slot("shop-0", "a", "Serving"), slot("shop-1", "c", "Copying")},
	}
	now := *before.DeepCopy()
	now.ReadyReplicas, now.Nodes, now.Endpoint = 1, []string{"a", "b", "d", "e"}, ""
	now.Slots[1] = slot("shop-1", "b", "Serving")
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}, Status: before}
	content, err := JSONPatch(mc, now)
	if err != nil {
		t.Fatal(err)
	}
	var patch jsondiff.Patch
	if err := json.Unmarshal(content, &patch); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range patch {
		got = append(got, fmt.Sprintf("%s %s %v", o.Type, o.Path, o.Value))
	}
	want := []string{
		"replace /metadata/resourceVersion 7",
		"remove /status/nodes/1 <nil>", "add /status/nodes/1 b", "add /status/nodes/2 d",
		"remove /status/endpoint <nil>", "replace /status/readyReplicas 1", "replace /status/slots/1/pod b",
		"replace /status/slots/1/state Serving",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func TestThePatchOfNodesMakesAnyListOfAnyOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pods := func() (names []string) {
		for name := 'a'; name < 'j'; name++ {
			if random.IntN(2) == 0 {
				names = append(names, string(name))
			}
		}
		return names
	}
	for range 2000 {
		before, now := pods(), pods()
		if random.IntN(4) == 0 {
			slices.Reverse(before)
		}
		got := slices.Clone(before)
		for _, o := range diffNodes(before, now) {
			index, _ := strconv.Atoi(path.Base(o.Path))
			switch {
			case o.Path == "/status/nodes" && o.Value == nil:
				got = nil
			case o.Path == "/status/nodes":
				got = o.Value.([]string)
			case o.Type == jsondiff.OperationRemove:
				got = slices.Delete(got, index, index+1)
			default:
				got = slices.Insert(got, index, o.Value.(string))
			}
		}
		if !slices.Equal(now, got) {
			t.Fatalf("%v became %v, want %v", before, got, now)
		}
	}
}
