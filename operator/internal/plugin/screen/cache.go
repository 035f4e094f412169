package screen

// The screen of a cache.

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

// colorOf is the color of a state.
var colorOf = map[overview.State]Color{
	overview.Ready: Green, overview.Reconciling: Yellow, overview.Unknown: Red, overview.Stalled: Red,
}

// Cache prints the screen of a cache.
func (s Screen) Cache(cache overview.Cache, wide bool) error {
	fmt.Fprintf(s, "Memcached %s/%s: %s\n%s\n\n", cache.Namespace, cache.Name, s.headline(cache.Summary),
		s.says(cache.Message))
	s.facts(cache)
	s.waits(cache)
	if len(cache.Servers) > 0 {
		fmt.Fprintln(s)
		if err := s.servers(cache, wide); err != nil {
			return err
		}
	}
	if len(cache.Events) > 0 {
		fmt.Fprintln(s)
		if err := s.Events(cache.Events); err != nil {
			return err
		}
	}
	if len(cache.Unread) > 0 {
		fmt.Fprintf(s, "\nYou have no right to read: %s\n", strings.Join(cache.Unread, ", "))
	}
	return nil
}

// headline is the state in a line: whether the cache is healthy, and since when.
func (s Screen) headline(summary overview.Summary) string {
	line := s.painted(string(summary.State), colorOf[summary.State])
	if summary.Reason != "" {
		line += " (" + summary.Reason + ")"
	}
	if summary.Since != nil {
		line += " for " + s.age(summary.Since)
	}
	if summary.Suspended {
		line += ", " + s.painted("suspended", Yellow)
	}
	return line
}

// facts prints the properties that a cache has only once, such as its endpoint.
func (s Screen) facts(cache overview.Cache) {
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(s, "%-13s %s\n", name+":", value)
		}
	}
	fact("Endpoint", cache.Endpoint)
	fact("Discovery", cache.DiscoveryEndpoint)
	fact("Image", cache.Image)
	if certificate := cache.Certificate; certificate != nil {
		fact("Certificate", s.expiry(*certificate))
	}
	if memory := cache.Memory; memory != nil {
		fact("Memory", memory.Reason+". "+printers.EscapeTerminal(memory.Message))
	}
	if pods := cache.Pods; pods != nil {
		fact("Pods", pods.Reason+". "+printers.EscapeTerminal(pods.Message))
	}
	if cache.Rollout != nil {
		fact("Rollout", bar(*cache.Rollout))
	}
}

// expiry states when a certificate expires, in red within a week.
func (s Screen) expiry(certificate overview.Certificate) string {
	const soon = 7 * 24 * time.Hour
	date := certificate.NotAfter.Format(time.RFC3339)
	if certificate.Expired {
		return s.painted("expired "+s.age(&certificate.NotAfter)+" ago", Red) + " (" + date + ")"
	}
	left := certificate.NotAfter.Sub(s.Now)
	text := "expires in " + s.age(new(s.Now.Add(-left)))
	if left < soon {
		text = s.painted(text, Red)
	}
	return text + " (" + date + ")"
}

// barWidth is the number of characters of a full bar.
const barWidth = 20

// bar draws the progress of a rollout.
func bar(rollout overview.Rollout) string {
	done := barWidth
	if rollout.Size > 0 {
		done = int(min(rollout.UpToDate, rollout.Size)) * barWidth / int(rollout.Size)
	}
	line := fmt.Sprintf("[%s%s] %d of %d Pods up to date, %d ready", strings.Repeat("#", done),
		strings.Repeat("-", barWidth-done), rollout.UpToDate, rollout.Size, rollout.Ready)
	if rollout.Former > 0 {
		line += fmt.Sprintf(", %d to be replaced or deleted", rollout.Former)
	}
	if rollout.Paused {
		line += ", paused"
	}
	return line
}

func (s Screen) waits(cache overview.Cache) {
	for _, waiting := range cache.Waits {
		title := s.painted(waiting.Condition, Yellow)
		fmt.Fprintf(s, "\n%s (%s)\n%s\n", title, waiting.Reason, s.says(waiting.Message))
	}
}

// says returns a message of the operator, indented below its title.
func (s Screen) says(message string) string {
	return s.Wrap(indent+printers.EscapeTerminal(message), indent)
}

func (s Screen) servers(cache overview.Cache, wide bool) error {
	var rows [][]string
	for _, server := range cache.Servers {
		state := server.State
		if server.Reason != "" {
			state += " (" + server.Reason + ")"
		}
		age, restarts := "", "" // There is no Pod, or the user may not read it.
		if server.Created != nil {
			age, restarts = s.age(server.Created), fmt.Sprint(server.Restarts)
		}
		rows = append(rows, []string{
			server.Slot, state, server.Pod, server.Status, server.Node, server.Zone, server.Version,
			restarts, age, server.Address,
		})
	}
	columns := []string{"Slot", "State", "Pod", "Status", "Node", "Zone", "Version", "Restarts", "Age", "+Address"}
	if cache.Servers[0].Slot == "" { // Servers with slots come first.
		const ofSlots = 2
		columns = columns[ofSlots:]
		for i := range rows {
			rows[i] = rows[i][ofSlots:]
		}
	}
	return s.table(columns, rows, wide)
}

// Events prints events, the last one at the end.
func (s Screen) Events(events []overview.Event) error {
	var rows [][]string
	for _, event := range events {
		rows = append(rows, []string{s.age(&event.LastSeen), event.Type, event.Reason, event.Object, event.Message})
	}
	return s.table([]string{"Last Seen", "Type", "Reason", "Object", "Message"}, rows, false)
}
