package metrics

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// TestTheRulesUseExistingMetricsAndReasons looks at the files of operator/config/monitoring.
func TestTheRulesUseExistingMetricsAndReasons(t *testing.T) {
	for file, wanted := range map[string][]string{
		"podmonitor.yaml": {
			names.LabelApp + ": " + names.App, "key: " + names.LabelInstance,
			"__meta_kubernetes_pod_label_" + names.LabelInstance + "]", "port: " + names.MetricsPort,
		},
		"rules.yaml": {
			fmt.Sprintf(`leader_election_master_status{name="%s"}`, names.LeaderElectionID),
			fmt.Sprintf("memcached_max_connections{memcached!=\"\"} - %d\n", own(t, 0)),
			fmt.Sprintf("- %d * (memcached_threads{memcached!=\"\"} or ", own(t, 1)-own(t, 0)),
			fmt.Sprintf(" + %d)\n", memcached.DefaultThreads),
			`result="` + resultFailed + `"`,
		},
	} {
		content, err := os.ReadFile("../../config/monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted {
			if !strings.Contains(string(content), want) {
				t.Errorf("%s does not have %s", file, want)
			}
		}
	}
}

// own is how many connections a memcached with so many threads needs itself.
func own(t *testing.T, threads int32) int {
	t.Helper()
	const clients = 1000
	for _, argument := range memcached.Arguments(memcached.Settings{
		Threads: threads, MaxConnections: clients,
	}) {
		var limit int
		if _, err := fmt.Sscanf(argument, "--conn-limit=%d", &limit); err == nil {
			return limit - clients
		}
	}
	t.Fatal("memcached is given no limit")
	return 0
}
