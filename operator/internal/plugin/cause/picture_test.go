package cause_test

import (
	"io"
	"testing"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cause"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

func TestTheDocsShowThePictureOfAnExplanation(t *testing.T) {
	show := func(out io.Writer, colors bool) error {
		e := scenarios()[cachev1.ReasonPodsNotReady]
		return screen.Screen{Writer: out, Now: cachetest.Now, Colors: colors}.Explanation(cause.Explain(e))
	}
	cachetest.Picture(t, "why", "kubectl memcached why shop -n team", "testdata/PodsNotReady.txt", show, *update)
}
