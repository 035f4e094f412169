//go:build e2e

package commands

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/owner"
)

// owner returns the number of the server of a key.
func (c *cache) owner(key string) int {
	c.t.Helper()
	owners, err := owner.Of(c.mc, "", []string{key})
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.IndexFunc(c.mc.Status.Slots, func(slot cachev1.SlotStatus) bool { return slot.Name == owners[0].Slot })
}

func TestGetShowsTheItemOfTheServerThatClientsChoose(t *testing.T) {
	c := secured(t, 3)
	number := c.owner("user:7")
	c.send(number, "set user:7 3 600 5\r\nhello\r\n", 1)
	slot := c.mc.Status.Slots[number]
	out := c.prints([]string{slot.Name + "   " + slot.Pod + "   yes     5", "   no     ", "   3\n"}, "get", "user:7")
	if strings.Contains(out, "hello") || strings.Count(out, "\n") != 2 {
		t.Errorf("not one server without the value:\n%s", out)
	}
	if !slices.Equal(c.dialed, []int32{names.TLSPortNumber}) {
		t.Errorf("dialed %v", c.dialed)
	}
	c.prints([]string{"\nValue in Pod " + slot.Pod + ":\n\"hello\"\n"}, "get", "user:7", "--value")

	var list struct {
		Kind  string
		Items []struct {
			Slot              string
			Found, Read       bool
			Size, Flags       int
			TTLSeconds        *int
			LastAccessSeconds int
			Value             *string
		}
	}
	text := c.prints(nil, "get", "user:7", "--cache=shop", "-o", "json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	got := list.Items[0]
	if list.Kind != "CacheItemList" || got.Slot != slot.Name || !got.Found || got.Size != 5 || got.Flags != 3 ||
		got.TTLSeconds == nil || *got.TTLSeconds < 590 || got.Value != nil {
		t.Errorf("got %+v", list)
	}
	if got.Read {
		t.Error("get used the item")
	}
	c.prints([]string{"   no      -      -"}, "get", "user:8", "--hash=rendezvous", "--cache=shop")
}

func TestGetAcceptsAKeyOfAnyBytesInBase64(t *testing.T) {
	c := secured(t, 2)
	key := "\x01 key\xff"
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	number := c.owner(key)
	c.send(number, "ms "+encoded+" 5 b F7\r\nhello\r\n", 1)
	c.prints([]string{c.pods[number].Name + "   yes     5", "\"hello\""}, "get", "--base64", encoded, "--value")
	c.prints([]string{`"keyBase64": "` + encoded + `"`, `"found": true`}, "get", "--base64", encoded, "-o", "json")
	c.prints([]string{`\x01 key\xff`, c.mc.Status.Slots[number].Name}, "owner", "--base64", encoded)
}

func TestGetAsksAllServersOfACacheWithoutAHash(t *testing.T) {
	c := secured(t, 2)
	c.mc.Spec.Slots.ClientHash = ""
	c.send(1, "set a 0 0 1\r\nx\r\n", 1)
	c.prints([]string{c.pods[0].Name + "   no ", c.pods[1].Name + "   yes "}, "get", "a")
	c.servers[0].Signal(t, 9)
	<-c.servers[0].Ended()
	c.prints([]string{c.pods[0].Name + "   unknown ", "Pod " + c.pods[0].Name + ": ", "connection refused", c.pods[1].Name + "   yes "}, "get", "a")
}

func TestWhatKeepsAUserFromAServerIsNamed(t *testing.T) {
	c := secured(t, 1)
	fails := func(want string, arguments ...string) {
		t.Helper()
		if _, err := c.run("", arguments...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", arguments, err, want)
		}
	}
	users := c.secrets["users"]
	delete(c.secrets, "users")
	fails("you have no right to get Secret team/users", "get", "a")
	c.secrets["users"] = users.DeepCopy()
	c.secrets["users"].StringData["users"] = "app:wrong\n"
	fails("memcached refuses the user name or the password", "get", "a")
	c.secrets["users"].StringData["users"] = "app:wrong\napp:secret\n"
	c.prints([]string{"no"}, "get", "a")
	server := c.secrets["server"]
	delete(c.secrets, "server")
	fails("you have no right to get Secret team/server", "get", "a")
	c.pods = nil
	c.secrets["server"] = server
	fails("no Pod of Memcached team/shop runs: see kubectl memcached why shop -n team", "get", "a")
	fails("--timeout -1s is no time", "get", "a", "--timeout=-1s")
	fails("2 keys are given", "get", "a", "b")
}
