package discovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Unix(1_795_600_800, 0)

// pod is a ready Pod whose number is in its name, its address and its age: a higher one is younger.
func pod(number int, changes ...func(*Pod)) Pod {
	name := fmt.Sprint("p", number)
	p := Pod{
		Name: name, UID: "uid-" + name, IP: fmt.Sprint("10.0.0.", number), Created: noon.Add(time.Duration(number) * time.Second),
		Serves: true, Ready: true,
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func unready(p *Pod) { p.Ready = false }
func leaving(p *Pod) { p.Leaving = true }
func without(p *Pod) { p.Serves = false }

// answers is a Pod that answers with a list of Pods.
func answers(version int64, numbers ...int) func(*Pod) {
	return func(p *Pod) { p.Answers, p.List = true, listOf(version, numbers...) }
}

func listOf(version int64, numbers ...int) string {
	list := List{Version: version, Endpoint: "shop.team.svc:11211"}
	for _, number := range numbers {
		host := fmt.Sprint("10.0.0.", number)
		list.Nodes = append(list.Nodes, Node{Host: host, IP: host, Port: 11211})
	}
	return list.Encode()
}

func TestDecide(t *testing.T) {
	now := noon.Unix()
	announces := func(number int, version int64, numbers ...int) Change {
		return Change{Pod: fmt.Sprint("p", number), UID: fmt.Sprint("uid-p", number), Answers: true, List: listOf(version, numbers...)}
	}
	silences := func(number int) Change { return Change{Pod: fmt.Sprint("p", number), UID: fmt.Sprint("uid-p", number)} }
	tests := map[string]struct {
		pods  []Pod
		want  []Change
		after time.Duration
	}{
		"without Pods nothing is to be done": {},
		"the ready Pods are announced to each other": {
			pods: []Pod{pod(1), pod(2)}, want: []Change{announces(1, now, 1, 2), announces(2, now, 1, 2)},
		},
		"a list that is known is not announced again": {pods: []Pod{pod(1, answers(7, 1, 2)), pod(2, answers(7, 1, 2))}},
		"three answer, the youngest": {
			pods: []Pod{pod(1), pod(2), pod(3), pod(4)},
			want: []Change{announces(2, now, 1, 2, 3, 4), announces(3, now, 1, 2, 3, 4), announces(4, now, 1, 2, 3, 4)},
		},
		"who answers stays": {
			pods: []Pod{pod(1, answers(7, 1, 2, 3, 4)), pod(2, answers(7, 1, 2, 3, 4)), pod(3, answers(7, 1, 2, 3, 4)), pod(4)},
		},
		"a Pod that is not ready gets the list, and is no server": {
			pods: []Pod{pod(1, answers(7, 1)), pod(2, unready)}, want: []Change{announces(2, 7, 1)},
		},
		"it gives way to a ready one": {
			pods: []Pod{pod(1, answers(7, 1, 2, 3)), pod(2, answers(7, 1, 2, 3)), pod(3), pod(4, unready, answers(7, 1, 2, 3))},
			want: []Change{announces(3, 7, 1, 2, 3), silences(4)},
		},
		"another list has the time as its version": {
			pods: []Pod{pod(1, answers(7, 1, 2))}, want: []Change{announces(1, now, 1)},
		},
		"there is at most one list a second": {
			pods: []Pod{pod(1, answers(now, 1, 2)), pod(2, leaving), pod(3)}, want: []Change{announces(3, now, 1, 2)}, after: time.Second,
		},
		"a clock that is behind has to catch up": {pods: []Pod{pod(1, answers(now+5, 1, 2))}, after: 6 * time.Second},
		"a version that is far in the future grows by one": {
			pods: []Pod{pod(1, answers(now+3600, 1, 2))}, want: []Change{announces(1, now+3601, 1)},
		},
		"a Pod that leaves still counts for the version, and is left alone": {
			pods: []Pod{pod(1), pod(2, leaving, answers(now+3600, 1, 2))}, want: []Change{announces(1, now+3601, 1)},
		},
		"Pods with different versions of the list agree on the newest": {
			pods: []Pod{pod(1, answers(7, 1, 2)), pod(2, answers(9, 1, 2))}, want: []Change{announces(1, 9, 1, 2)},
		},
		"a list that another client broke is announced again": {
			pods: []Pod{pod(1, answers(7, 1)), pod(2, unready, func(p *Pod) { p.Answers, p.List = true, "{" })},
			want: []Change{announces(2, 7, 1)},
		},
		"a version that cannot grow, which another client wrote, counts for nothing": {
			pods: []Pod{pod(1, answers(newestVersion, 1, 2)), pod(2, leaving, answers(newestVersion, 1, 2))},
			want: []Change{announces(1, now, 1)},
		},
		"a Pod of an earlier template is a server, and cannot answer": {
			pods: []Pod{pod(1, without), pod(2)}, want: []Change{announces(2, now, 1, 2)},
		},
		"an address that is none yet is left out": {
			pods: []Pod{pod(1, answers(7, 1)), pod(2, func(p *Pod) { p.IP = "" })}, want: []Change{announces(2, 7, 1)},
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			in := Input{Endpoint: "shop.team.svc:11211", Port: 11211, Pods: tc.pods, Now: noon}
			if diff := cmp.Diff(Decision{Changes: tc.want, After: tc.after}, Decide(in)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			for i := range in.Pods { // Once the changes are made, nothing is left to do.
				for _, change := range tc.want {
					if change.UID == in.Pods[i].UID {
						in.Pods[i].Answers, in.Pods[i].List = change.Answers, change.List
					}
				}
			}
			if again := Decide(in).Changes; len(again) > 0 {
				t.Errorf("afterwards, the changes are %v", again)
			}
		})
	}
}

func TestSlotsAreTheServers(t *testing.T) {
	slot := func(number int, pod string) Slot {
		host := fmt.Sprintf("shop-%d.shop-slots.team.svc", number)
		return Slot{Node: Node{Host: host, Port: 11211}, Pod: pod}
	}
	inMode := func(mode string, slot Slot) Slot {
		slot.Host = strings.Replace(slot.Host, "shop-slots.", mode, 1)
		return slot
	}
	lists := func(version int64, slots ...Slot) func(*Pod) {
		list := List{Version: version, Endpoint: "shop.team.svc:11211"}
		for _, slot := range slots {
			list.Nodes = append(list.Nodes, slot.Node)
		}
		return func(p *Pod) { p.Answers, p.List = true, list.Encode() }
	}
	tests := map[string]struct {
		slots []Slot
		pods  []Pod
		want  string // the payload that the first Pod has then
	}{
		"all of a new cache, whether their Pods are ready or not": {
			slots: []Slot{slot(0, ""), slot(1, "")}, pods: []Pod{pod(1, unready)},
			want: "1795600800\nshop-0.shop-slots.team.svc||11211 shop-1.shop-slots.team.svc||11211\n",
		},
		"all where no list is left, though only some are ready": {
			slots: []Slot{slot(0, "p1"), slot(1, "")}, pods: []Pod{pod(1)},
			want: "1795600800\nshop-0.shop-slots.team.svc||11211 shop-1.shop-slots.team.svc||11211\n",
		},
		"all that were announced, by their new addresses": {
			slots: []Slot{inMode("", slot(0, "p1")), inMode("", slot(1, ""))}, pods: []Pod{pod(1, lists(7, slot(0, ""), slot(1, "")))},
			want: "1795600800\nshop-0.team.svc||11211 shop-1.team.svc||11211\n",
		},
		"those whose Pod does not exist": {
			slots: []Slot{slot(0, "p1"), slot(1, "")}, pods: []Pod{pod(1, lists(7, slot(0, ""), slot(1, "")))},
			want: "7\nshop-0.shop-slots.team.svc||11211 shop-1.shop-slots.team.svc||11211\n",
		},
		"not one that was added, and has no Pod": {
			slots: []Slot{slot(0, "p1"), slot(1, "")}, pods: []Pod{pod(1, lists(7, slot(0, "")))},
			want: "7\nshop-0.shop-slots.team.svc||11211\n",
		},
		"not one that was added, and whose Pod is not ready": {
			slots: []Slot{slot(0, "p1"), slot(1, "p2")}, pods: []Pod{pod(1, lists(7, slot(0, ""))), pod(2, unready)},
			want: "7\nshop-0.shop-slots.team.svc||11211\n",
		},
		"one that was added, once its Pod is ready": {
			slots: []Slot{slot(0, "p1"), slot(1, "p2")}, pods: []Pod{pod(1, lists(7, slot(0, ""))), pod(2)},
			want: "1795600800\nshop-0.shop-slots.team.svc||11211 shop-1.shop-slots.team.svc||11211\n",
		},
		"all where a list without slots was announced before, and none has a Pod": {
			slots: []Slot{slot(0, ""), slot(1, "")}, pods: []Pod{pod(1, answers(7, 1, 2))},
			want: "1795600800\nshop-0.shop-slots.team.svc||11211 shop-1.shop-slots.team.svc||11211\n",
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			content := tc.pods[0].List
			in := Input{Endpoint: "shop.team.svc:11211", HasSlots: true, Slots: tc.slots, Pods: tc.pods, Now: noon}
			for _, change := range Decide(in).Changes {
				if change.Pod == tc.pods[0].Name {
					content = change.List
				}
			}
			list, err := Decode(content)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, list.Payload()); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAListThatWouldBreakTheAnswerIsRefused(t *testing.T) {
	for sentence, content := range map[string]string{
		"no JSON":                     "7",
		"no host":                     `{"nodes":[{"port":1}]}`,
		"a host that ends the answer": `{"nodes":[{"host":"a\r\nEND","port":1}]}`,
		"a version below 0":           `{"version":-1}`,
		"a version that cannot grow":  `{"version":9007199254740992}`,
		"a host of two":               `{"nodes":[{"host":"a|b","port":1}]}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			if list, err := Decode(content); err == nil {
				t.Errorf("accepted: %v", list)
			}
		})
	}
}
