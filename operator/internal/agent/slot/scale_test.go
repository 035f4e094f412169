package slot

import "github.com/example-inc/memcached-operator/operator/internal/instruction"

// scaled changes an instruction into one about a change to the clients' list of servers.
func scaled(i *instruction.Instruction) {
	i.From = ""
	i.Scale = instruction.Scale{Hash: "Ketama", Names: "shop-#:11211", Before: 2, After: 1, Servers: "10.0.0.3"}
}

// rolesWithScale are the cases of TestRoles in which a slot is added or removed, or was to be removed.
var rolesWithScale = map[string][]step{
	"a slot that is removed": {
		{order(serve), "ready:"}, {order(send), "waits: copy "}, {copied, "waits:"}, {after(12), "ready:"},
		{order(moved, scaled), "ready:"}, {order(leave), "ready:"},
	},
	"a slot that is removed, copied later than the operator needs to see it": {
		{order(send), "waits: copy "}, {after(12), "waits:"}, {copied, "ready:"},
	},
	"a slot that stays after all keeps its keys": {
		{order(serve), "ready:"}, {order(send), "waits: copy "}, {order(serve), "ready: stopped"},
	},
	"a slot that stays after all was copied keeps its keys": {
		{order(send), "waits: copy "}, {copied, "waits:"}, {loses, "waits:"}, {order(serve), "ready: stopped"},
	},
	"a slot that is removed, and whose instruction is taken away, keeps its keys": {
		{order(send), "waits: copy "}, {write(""), "waits: stopped"}, {order(serve), "ready:"},
	},
	"a slot that is removed, and the copy fails": {
		{order(send), "waits: copy "}, {ends(unused), "the copy failed: NewEnded: EOF"},
	},
	"a slot that was removed, and the agent restarted": {{order(moved, scaled), "ready: resume "}},
	"a slot that is added": {
		{order(receive, scaled), "waits: copy "}, {copied, "ready:"}, {order(moved, scaled), "ready:"}, {order(serve), "ready: stopped"},
	},
	"a slot that is added, but another time": {
		{order(receive, scaled), "waits: copy "}, {write(""), "waits: stopped"}, {order(receive, scaled, later), "waits: copy "},
	},
}
