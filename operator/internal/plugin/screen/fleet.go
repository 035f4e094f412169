package screen

// The screen of many caches.

import (
	"fmt"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

// Fleet prints caches, one on each line. The first column is the namespace if the caches are in several namespaces.
func (s Screen) Fleet(members []overview.Member, withNamespace, wide bool) error {
	columns := []string{"Name", "State", "Reason", "Ready", "For", "Waits", "Certificate", "Age", "+Image", "+Message"}
	if withNamespace {
		columns = append([]string{"Namespace"}, columns...)
	}
	var rows [][]string
	for _, member := range members {
		row := []string{
			member.Name, s.stateOf(member.Summary), member.Reason, fmt.Sprintf("%d/%d", member.Ready, member.Size),
			s.since(member.Since), waitsIn(member.Waits), s.left(member.Expires), s.age(member.Created),
			member.Image, member.Message,
		}
		if withNamespace {
			row = append([]string{member.Namespace}, row...)
		}
		rows = append(rows, row)
	}
	return s.table(columns, rows, wide)
}

func (s Screen) stateOf(summary overview.Summary) string {
	if summary.Suspended {
		return string(summary.State) + ",Suspended"
	}
	return string(summary.State)
}

func (s Screen) since(since *time.Time) string {
	if since == nil {
		return ""
	}
	return s.age(since)
}

// left returns how long a certificate is still valid.
func (s Screen) left(expires *time.Time) string {
	switch {
	case expires == nil:
		return ""
	case !s.Now.Before(*expires):
		return "expired"
	}
	return s.age(new(s.Now.Add(-expires.Sub(s.Now))))
}

// waitsIn returns the names of conditions because of which something waits.
func waitsIn(waits []overview.Waiting) string {
	var conditions []string
	for _, waiting := range waits {
		conditions = append(conditions, waiting.Condition)
	}
	return strings.Join(conditions, ",")
}
