package commands

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

const pendingMessage = "image a:1 -> a:2. The update would replace the Pods. It is applied with the next change to the spec"

// moving is a cache that follows other servers, with a reason of the condition Bootstrapped.
func moving(reason string) *cachev1.Memcached {
	condition := cachetest.Condition(cachev1.ConditionBootstrapped, reason, "how far it is")
	condition.Status = metav1.ConditionFalse
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "", condition)
	mc.Spec.Bootstrap = &cachev1.Bootstrap{Mode: cachev1.BootstrapFollow}
	return mc
}

func pendingUpdate(reason, message string, status metav1.ConditionStatus) *cachev1.Memcached {
	condition := cachetest.Condition(cachev1.ConditionUpdatePending, reason, message)
	condition.Status = status
	return cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "", condition)
}

func with(mc *cachev1.Memcached, change func(*cachev1.Memcached)) *cachev1.Memcached {
	change(mc)
	return mc
}

func TestAChangeOfAFieldIsMadeOnceOrRefusedWithTheFix(t *testing.T) {
	ready := func() *cachev1.Memcached { return cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "") }
	suspended := func(mc *cachev1.Memcached) { mc.Spec.Suspend = true }
	const cutOver, wait = `{"spec":{"bootstrap":{"mode":"CutOver"}}}`, "kubectl -n team wait memcached/shop --timeout=1h --for="
	for name, tc := range map[string]struct {
		mc             *cachev1.Memcached
		command        string
		patch, printed string // the beginning of the patch
		err            string
	}{
		"pause":                         {ready(), "pause", `{"spec":{"suspend":true}}`, "shop paused\n", ""},
		"pause once more":               {with(ready(), suspended), "pause", "", "shop is paused already\n", ""},
		"resume":                        {with(ready(), suspended), "resume", `{"spec":{"suspend":null}}`, "shop resumed\n", ""},
		"resume one that is not paused": {ready(), "resume", "", "shop is resumed already\n", ""},
		"cut over what follows": {
			moving(cachev1.ReasonBootstrapFollowing), "cutover", cutOver,
			"shop cuts over\nMove the clients once this returns: " + wait + "condition=Bootstrapped\n", "",
		},
		"cut over once more": {
			with(moving(cachev1.ReasonBootstrapCuttingOver), func(mc *cachev1.Memcached) {
				mc.Spec.Bootstrap.Mode = cachev1.BootstrapCutOver
			}), "cutover", "", "shop is cut over, or about to be: see kubectl memcached why shop -n team\n", "",
		},
		"cut over what copies": {
			moving(cachev1.ReasonBootstrapCopying), "cutover", "", "", "(BootstrapCopying: how far it is): wait for it by " + wait +
				`jsonpath='{.status.conditions[?(@.type=="Bootstrapped")].reason}'=BootstrapFollowing`,
		},
		"cut over what failed": {
			moving(cachev1.ReasonBootstrapFailed), "cutover", "", "",
			"(BootstrapFailed: how far it is): see kubectl memcached why shop -n team",
		},
		"cut over a spec that is newer than the status": {
			with(moving(cachev1.ReasonBootstrapFollowing), func(mc *cachev1.Memcached) { mc.Generation++ }), "cutover", "", "",
			"the operator has not seen the spec of Memcached team/shop yet",
		},
		"cut over a cache without other servers": {ready(), "cutover", "", "", "spec.bootstrap of Memcached team/shop is not set"},
		"cut over a paused cache": {
			with(moving(cachev1.ReasonBootstrapFollowing), suspended), "cutover", "", "",
			"run kubectl memcached resume shop -n team first",
		},
		"update": {
			pendingUpdate(cachev1.ReasonDefaultsDiffer, pendingMessage, metav1.ConditionTrue), "update",
			`{"metadata":{"annotations":{"cache.example.com/update-requested":"20`, "shop is being updated\n", "",
		},
		"update one that is queued": {
			pendingUpdate(cachev1.ReasonUpdateQueued, pendingMessage, metav1.ConditionTrue), "update",
			`{"metadata":{"annotations":{"cache.example.com/update-requested":"20`, "shop is being updated\n", "",
		},
		"update once more": {
			pendingUpdate(cachev1.ReasonUpdateInProgress, "", metav1.ConditionFalse), "update", "", "shop is being updated already\n", "",
		},
		"update what is up to date": {
			pendingUpdate(cachev1.ReasonNoUpdatePending, "", metav1.ConditionFalse), "update", "", "shop has no pending update\n", "",
		},
		"update without a status": {ready(), "update", "", "", "does not say whether an update is pending"},
		"update a paused cache": {
			with(pendingUpdate(cachev1.ReasonDefaultsDiffer, "", metav1.ConditionTrue), suspended), "update", "", "",
			"run kubectl memcached resume shop -n team first",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fleet{items: []cachev1.Memcached{*tc.mc}}
			out, err := run(t, f, tc.command, "shop", "-n", "team", "--yes")
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && err != nil {
				t.Errorf("got the error %v, want %q", err, tc.err)
			}
			printed := tc.printed
			if printed != "" {
				printed = "memcached.cache.example.com/" + printed
			}
			if diff := cmp.Diff(printed, out); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
			if got := strings.Join(f.patches, "\n"); !strings.HasPrefix(got, tc.patch) || tc.patch == "" && got != "" {
				t.Errorf("patched by %q, not %q", got, tc.patch)
			}
			f.patches = nil
			if _, err := run(t, f, tc.command, "shop", "-n", "team", "--dry-run"); tc.patch != "" {
				if got := strings.Join(f.patches, "\n"); err != nil || !strings.HasPrefix(got, "all "+tc.patch) {
					t.Errorf("the dry run: %q, %v", got, err)
				}
			}
		})
	}
}

func TestTheQuestionsOfAChangeSayWhatItCosts(t *testing.T) {
	for name, tc := range map[string]struct {
		mc            *cachev1.Memcached
		command, want string
	}{
		"an update without slots": {
			pendingUpdate(cachev1.ReasonDefaultsDiffer, pendingMessage, metav1.ConditionTrue), "update",
			"image a:1 -> a:2. The update would replace the Pods.\nAll Pods of team/shop will be replaced, one after another, " +
				"and all keys are lost. Continue? [y/N] \n",
		},
		"a cutover": {
			moving(cachev1.ReasonBootstrapFollowing), "cutover",
			"Clients will be allowed to use team/shop and the other servers at the same time. From then on, if the Pod of\n" +
				"Deployment team/shop-bootstrap is replaced, all keys are lost: move the clients within minutes. Continue? [y/N] \n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fleet{items: []cachev1.Memcached{*tc.mc}}
			out, err := run(t, f, tc.command, "shop", "-n", "team")
			if err == nil || len(f.patches) > 0 {
				t.Errorf("without an answer, it is patched by %q", f.patches)
			}
			if diff := cmp.Diff(tc.want, out); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}
