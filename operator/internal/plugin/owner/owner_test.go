package owner

import (
	"encoding/base64"
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
		"no slots":        {&cachev1.Memcached{}, "", "a", "set spec.slots"},
		"no hash":         {withSlots(""), "", "a", "add --hash with one of Ketama, CRC32Modulo, JumpSorted, Rendezvous"},
		"an unknown hash": {withSlots(""), "MD5", "a", `--hash "MD5" is unknown: write one of`},
		"no address":      {withoutAddress, "", "a", "slot shop-1 has no address yet"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Of(tc.mc, tc.hash, []string{tc.key}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestKeysAreThoseThatClientsSend(t *testing.T) {
	long := strings.Repeat("x", 251)
	for name, tc := range map[string]struct {
		argument string
		inBase64 bool
		key, err string
	}{
		"as it is":        {"user:7", false, "user:7", ""},
		"in base64":       {"AWtleQ==", true, "\x01key", ""},
		"without base64":  {"a\x01", false, "", `KEY "a\x01" has a space or a control character`},
		"a space":         {"a b", false, "", "in base64 with --base64"},
		"no base64":       {"a b", true, "", `KEY "a b" is not in base64, which --base64 requires`},
		"empty":           {"", false, "", "is empty"},
		"empty in base64": {"", true, "", "is empty"},
		"long":            {long, false, "", "has 251 bytes, and memcached accepts at most 250"},
		"long in base64":  {base64.StdEncoding.EncodeToString([]byte(long)), true, "", "has 251 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Keys([]string{tc.argument}, tc.inBase64)
			switch {
			case tc.err != "":
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want %q", err, tc.err)
				}
			case err != nil || got[0] != tc.key:
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestAKeyThatJSONCannotHaveIsInBase64(t *testing.T) {
	got, err := Of(withSlots(cachev1.HashKetama), "", []string{"\x01key", "user:7"})
	if err != nil || got[0].Base64 != "AWtleQ==" || got[1].Base64 != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}
