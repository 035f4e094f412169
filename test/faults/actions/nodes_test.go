package actions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

func TestALostNodeComesBackWithItsRoomAndLabels(t *testing.T) {
	room := local.Room("100000", "1000Ti")
	lost := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "large", Labels: map[string]string{
			corev1.LabelHostname: "large", corev1.LabelArchStable: "arm64", corev1.LabelOSStable: "linux", "pool": "caches",
		}},
		Status: corev1.NodeStatus{Allocatable: room},
	}
	want := local.Node{
		Name: "arm64-1", Architecture: "arm64", OS: "linux", Room: room,
		Labels: map[string]string{corev1.LabelArchStable: "arm64", corev1.LabelOSStable: "linux", "pool": "caches"},
	}
	if diff := cmp.Diff(want, likeNode(lost, "arm64-1")); diff != "" {
		t.Errorf("likeNode (-want +got):\n%s", diff)
	}
	if lost.Labels[corev1.LabelHostname] != "large" {
		t.Error("the lost Node itself was changed")
	}
}
