package render_test

import (
	"testing"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

func TestEachPodTemplateIsRenderedOnce(t *testing.T) {
	nothing := func(*cachev1.MemcachedSpec) {}
	automatic := func(s *cachev1.MemcachedSpec) { s.UpdatePolicy = cachev1.UpdateAutomatic }
	tests := map[string]struct {
		change func(*cachev1.MemcachedSpec)
		update bool
		want   int
	}{
		"a cache at rest":                     {change: nothing, want: 1},
		"an update is pending":                {change: nothing, update: true, want: 1},
		"the size changed":                    {change: func(s *cachev1.MemcachedSpec) { s.Size = new(int32(7)) }, want: 1},
		"the spec replaces the Pods":          {change: func(s *cachev1.MemcachedSpec) { s.Threads = new(int32(7)) }, want: 2},
		"an automatic update is applied":      {change: automatic, update: true, want: 2},
		"updates are automatic at rest":       {change: automatic, want: 1},
		"a spec that is invalid has no Pods":  {change: func(s *cachev1.MemcachedSpec) { s.Image = "not//an image" }, want: 0},
		"the spec is as the operator made it": {change: func(s *cachev1.MemcachedSpec) { s.Image = render.Defaults.Image }, want: 1},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			before := render.MemcachedWith(nothing)
			live, operator := render.Deployed(t, before), render.Defaults
			mc := render.MemcachedWith(tc.change)
			mc.Status = before.Status
			if tc.update {
				operator.Image = "registry.example.com/memcached:next"
			}
			count := render.CountTemplates(t)
			outcome, template, err := desired.State(mc, plan.Current{Deployment: live, SecretsUsable: true}, operator)
			if p, planned := plan.Of(outcome); planned {
				render.Objects(p, template, live)
			}
			if err != nil || *count != tc.want {
				t.Errorf("%d Pod templates are rendered, want %d; error %v", *count, tc.want, err)
			}
		})
	}
}
