package status

import "testing"

func TestARefusalOfAQuotaOrALimitRangeNamesTheFieldsToSet(t *testing.T) {
	for refusal, want := range map[string]string{
		`pods "cache-1" is forbidden: failed quota: team: must specify limits.cpu for: agent,memcached`:                             " (set spec.agent.resources.limits.cpu, spec.resources.limits.cpu)",
		`pods "cache-1" is forbidden: failed quota: team: must specify limits.cpu for: agent,memcached; limits.memory for: istio`:   " (set spec.agent.resources.limits.cpu, spec.resources.limits.cpu)",
		`failed quota: team: must specify cpu for: memcached; requests.memory for: agent`:                                           " (set spec.agent.resources.requests.memory, spec.resources.requests.cpu)",
		`failed quota: team: must specify limits.ephemeral-storage for: memcached`:                                                  " (set spec.resources.limits.ephemeral-storage)",
		`failed quota: a: must specify limits.cpu for: memcached, failed quota: b: must specify limits.cpu for: memcached`:          " (set spec.resources.limits.cpu)",
		`failed quota: team: must specify limits.cpu for: istio-proxy`:                                                              "",
		`maximum cpu usage per Container is 500m, but limit is 2`:                                                                   " (see spec.resources and spec.agent.resources)",
		`[minimum memory usage per Pod is 1Gi, but request is 276Mi, maximum cpu usage per Container is 1.  No limit is specified]`: " (see spec.resources and spec.agent.resources)",
		`pods "cache-1" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0`:                      "",
		`pods "cache-1" is forbidden: no PriorityClass with name precious was found`:                                                "",
	} {
		if got := fieldsToSet(refusal); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", refusal, got, want)
		}
	}
}
