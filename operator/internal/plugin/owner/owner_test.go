package owner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

func withSlots(hash cachev1.ClientHash) *cachev1.Memcached {
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "")
	mc.Spec.Slots = &cachev1.Slots{ClientHash: hash}
	for n := range 3 {
		mc.Status.Slots = append(mc.Status.Slots, cachev1.SlotStatus{
			Name: fmt.Sprintf("shop-%d", n), Pod: fmt.Sprintf("pod-%d", n), State: cachev1.SlotServing,
			Address: fmt.Sprintf("shop-%d.shop-slots.team.svc:11211", n),
		})
	}
	return mc
}

func TestAKeyBelongsToTheSlotThatClientsChoose(t *testing.T) {
	for _, algorithm := range clienthash.Algorithms {
		mc := withSlots("")
		var addresses []string
		for _, slot := range mc.Status.Slots {
			addresses = append(addresses, slot.Address)
		}
		choose, err := clienthash.New(algorithm, addresses)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Of(mc, strings.ToLower(string(algorithm)), []string{"user:7"})
		if err != nil {
			t.Fatal(err)
		}
		slot := mc.Status.Slots[choose([]byte("user:7"))]
		want := []Owner{{
			Key: "user:7", Slot: slot.Name, Address: slot.Address, Pod: slot.Pod, State: "Serving", Hash: string(algorithm),
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTheHashOfTheSpecIsTheDefault(t *testing.T) {
	for given, want := range map[string]string{"": "Ketama", "Rendezvous": "Rendezvous"} {
		got, err := Of(withSlots(cachev1.HashKetama), given, []string{"a"})
		if err != nil || got[0].Hash != want {
			t.Errorf("got %+v, %v, want %s", got, err, want)
		}
	}
}

func TestAnErrorNamesTheValueAndTheFix(t *testing.T) {
	withoutAddress := withSlots(cachev1.HashKetama)
	withoutAddress.Status.Slots[1].Address = ""
	for name, tc := range map[string]struct {
		mc              *cachev1.Memcached
		hash, key, want string
	}{
		"no slots":         {&cachev1.Memcached{}, "", "a", "set spec.slots"},
		"no hash":          {withSlots(""), "", "a", "add --hash with one of Ketama, CRC32Modulo, JumpSorted, Rendezvous"},
		"an unknown hash":  {withSlots(""), "MD5", "a", `--hash "MD5" is unknown: write one of`},
		"no address":       {withoutAddress, "", "a", "slot shop-1 has no address yet"},
		"an empty key":     {withSlots("Ketama"), "", "", "is empty"},
		"a long key":       {withSlots("Ketama"), "", strings.Repeat("x", 251), "has 251 bytes, and memcached accepts at most 250"},
		"a key with space": {withSlots("Ketama"), "", "a b", `KEY "a b" has a space`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Of(tc.mc, tc.hash, []string{tc.key}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
