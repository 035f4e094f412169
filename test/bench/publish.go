package main

import (
	"context"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

func publish(ctx context.Context, measured report.Report, page string) error {
	return measured.WritePage(page)
}
