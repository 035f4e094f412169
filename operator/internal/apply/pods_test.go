package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// podServer records the patches of Pods.
type podServer struct {
	stub
	err     error
	patches []string
}

func (s *podServer) Patch(_ context.Context, pod client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return s.note("", pod, patch)
}

func (s *podServer) Status() client.SubResourceWriter { return podStatus{server: s} }

type podStatus struct {
	client.SubResourceWriter
	server *podServer
}

func (s podStatus) Patch(_ context.Context, pod client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return s.server.note("status of ", pod, patch)
}

func (s *podServer) note(of string, pod client.Object, patch client.Patch) error {
	content, _ := patch.Data(pod)
	text, _, _ := strings.Cut(string(content), `"lastTransitionTime"`)
	s.patches = append(s.patches, of+pod.GetName()+" "+text)
	pod.SetResourceVersion("8") // The version of the answer.
	return s.err
}

func TestPodsAreChangedForTheirSlots(t *testing.T) {
	order := instruction.Instruction{Slot: "cache-1", Role: instruction.Serve, Since: time.Unix(1_800_000_000, 0)}
	change := func(change func(*slots.Change)) []slots.Change {
		changed := slots.Change{Pod: "cache-a", UID: "uid-a"}
		change(&changed)
		return []slots.Change{changed}
	}
	tests := map[string]struct {
		changes []slots.Change
		want    []string
	}{
		"an instruction and a cost are one patch": {
			change(func(c *slots.Change) { c.Instruction, c.Cost = &order, new(slots.CostLeave) }),
			[]string{`cache-a {"metadata":{"annotations":{"cache.example.com/handoff":"{\"slot\":\"cache-1\",\"role\":\"serve\",` +
				`\"since\":\"2027-01-15T08:00:00Z\"}","controller.kubernetes.io/pod-deletion-cost":"-100"},` +
				`"resourceVersion":"7","uid":"uid-a"}}`},
		},
		"what is not needed is removed": {
			change(func(c *slots.Change) { c.Instruction, c.Cost = &instruction.Instruction{}, new(slots.CostHolder) }),
			[]string{`cache-a {"metadata":{"annotations":{"cache.example.com/handoff":null,` +
				`"controller.kubernetes.io/pod-deletion-cost":null},"resourceVersion":"7","uid":"uid-a"}}`},
		},
		"the gate comes after the cost, over the version of that": {
			change(func(c *slots.Change) { c.Gate, c.Cost = new(false), new(slots.CostLeave) }),
			[]string{
				`cache-a {"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-100"},` +
					`"resourceVersion":"7","uid":"uid-a"}}`,
				`status of cache-a {"metadata":{"resourceVersion":"8","uid":"uid-a"},"status":{"conditions":[{`,
			},
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			server := &podServer{}
			written, again, err := syncPods(t, server, tc.changes)
			if diff := cmp.Diff(tc.want, server.patches); diff != "" || again || err != nil {
				t.Errorf("again %t, error %v, patches (-want +got):\n%s", again, err, diff)
			}
			if diff := cmp.Diff(tc.changes, written); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}

func syncPods(t *testing.T, server *podServer, changes []slots.Change) ([]slots.Change, bool, error) {
	t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team"}}
	snapshot := observe.Snapshot{Versions: map[string]string{"uid-a": "7", "uid-b": "9"}}
	return NewSyncer(server, server, clientgoscheme.Scheme, nil).SyncPods(t.Context(), mc, snapshot, changes)
}

func TestAPodThatIsNotAsItWasReadIsDecidedAboutAgain(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	uid := field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "uid-a", "field is immutable")}
	tests := map[string]struct {
		answer       error
		again, fails bool
	}{
		"it was changed":  {apierrors.NewConflict(pods, "cache-a", nil), true, false},
		"it was replaced": {apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "cache-a", uid), true, false},
		"it was deleted":  {apierrors.NewNotFound(pods, "cache-a"), false, false},
		"no answer":       {errors.New("no answer"), false, true},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			server := &podServer{err: tc.answer}
			changes := []slots.Change{
				{Pod: "cache-a", UID: "uid-a", Gate: new(true)}, {Pod: "cache-b", UID: "uid-b", Gate: new(true)},
			}
			written, again, err := syncPods(t, server, changes)
			if again != tc.again || (err != nil) != tc.fails || len(server.patches) != 2 || len(written) != 0 {
				t.Errorf("written %v, again %t, error %v, patches %v", written, again, err, server.patches)
			}
		})
	}
}
