//go:build !linux

package rows

import (
	"context"
	"errors"

	"github.com/example-inc/memcached-operator/test/bench/report"
)

// data can't be measured where there are no Pods.
func data(context.Context, *Bench, func(string)) ([]report.Figure, []report.Plot, error) {
	return nil, nil, errors.New("a real cluster needs Linux")
}
