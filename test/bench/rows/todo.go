package rows

import (
	"context"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

func data(ctx context.Context, b *Bench, update func(string)) (f []report.Figure, _ []report.Plot, err error) {
	return
}
