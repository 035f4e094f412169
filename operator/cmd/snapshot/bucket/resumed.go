package bucket

import (
	"context"
	"errors"
	"io"
	"time"
)

// attempts limits how often in a row resumed tries to continue without reading anything.
const attempts = 4

// resumed reads an object. If a connection ends, resumed continues at the same place over another connection, because
// it may take hours to read an object, and few connections last that long.
type resumed struct {
	ctx    context.Context //nolint:containedctx // The context of Open, with which the object is opened again.
	from   *Bucket
	name   string
	reader io.ReadCloser
	offset int64
}

func (r *resumed) Read(to []byte) (int, error) {
	for attempt := 1; ; attempt++ {
		n, err := r.reader.Read(to)
		r.offset += int64(n)
		if n > 0 && err != nil && !errors.Is(err, io.EOF) {
			return n, nil // The next call gets the error again.
		}
		if n > 0 || err == nil || errors.Is(err, io.EOF) || attempt > attempts || r.ctx.Err() != nil {
			return n, err
		}
		if failed := r.reopen(attempt); failed != nil {
			return 0, errors.Join(err, failed)
		}
	}
}

// reopen opens the object again at the same place, after a pause that grows with each attempt.
func (r *resumed) reopen(attempt int) error {
	select {
	case <-time.After(time.Duration(attempt) * r.from.pause):
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
	reader, err := r.from.from(r.ctx, r.name, r.offset)
	if err != nil {
		return err
	}
	_ = r.reader.Close()
	r.reader = reader
	return nil
}

func (r *resumed) Close() error { return r.reader.Close() }
