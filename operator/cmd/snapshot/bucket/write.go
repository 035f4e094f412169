package bucket

// Writes objects, and adds small objects without replacing existing objects.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

// Create writes an object. The object exists once the writer is closed, but not if the context ended before that.
func (b *Bucket) Create(ctx context.Context, name string, size int64) (io.WriteCloser, error) {
	if b.scheme == "azblob" {
		return b.upload(ctx, name, b.parts(size)), nil
	}
	return b.bucket.NewWriter(ctx, name, b.parts(size))
}

// uploaded is the writer of an object that the library reads from a pipe.
type uploaded struct {
	*io.PipeWriter

	ctx   context.Context //nolint:containedctx // The context of Create, which ends if the object is abandoned.
	ended chan error
}

// upload writes an object through a pipe from which the library reads, because the writer of azureblob ends the program
// if an upload fails.
func (b *Bucket) upload(ctx context.Context, name string, options *blob.WriterOptions) *uploaded {
	reader, writer := io.Pipe()
	u := &uploaded{writer, ctx, make(chan error, 1)}
	go func() {
		err := b.bucket.Upload(ctx, name, reader, options)
		_ = reader.CloseWithError(err) // The library does not read the rest.
		u.ended <- err
	}()
	return u
}

func (u *uploaded) Close() error {
	_ = u.CloseWithError(u.ctx.Err())
	return <-u.ended
}

// Add writes a small object, and does not replace an existing one.
func (b *Bucket) Add(ctx context.Context, name string, content []byte) error {
	if b.scheme == "file" {
		return b.addFile(ctx, name, content)
	}
	err := b.addOnce(ctx, name, content)
	for attempt := 1; isAnswer(err, "ConditionalRequestConflict") && attempt <= attempts; attempt++ {
		select { // Another attempt is writing the object at this moment, so wait before the next try.
		case <-time.After(b.pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err = b.addOnce(ctx, name, content)
	}
	return err
}

// addOnce writes an object on the condition that no object with this name exists.
func (b *Bucket) addOnce(ctx context.Context, name string, content []byte) error {
	options := b.parts(int64(len(content)))
	options.IfNotExist = true
	err := b.bucket.Upload(ctx, name, bytes.NewReader(content), options)
	switch {
	case gcerrors.Code(err) == gcerrors.FailedPrecondition:
		return snapshot.ErrExists
	case !isAnswer(err, "NotImplemented"):
		return err
	}
	// This S3 server does not support conditions.
	if _, err := b.Size(ctx, name); err == nil {
		return snapshot.ErrExists
	} else if !errors.Is(err, snapshot.ErrMissing) {
		return err
	}
	options.IfNotExist = false
	return b.bucket.Upload(ctx, name, bytes.NewReader(content), options)
}

// isAnswer reports whether S3 answered with this code.
func isAnswer(err error, code string) bool {
	var answer interface{ ErrorCode() string }
	return errors.As(err, &answer) && answer.ErrorCode() == code
}

// addFile writes a file with a temporary name, and gives it its final name only if no file has that name. fileblob
// itself checks this only before it renames the file, so another process could create a file with this name in between.
func (b *Bucket) addFile(ctx context.Context, name string, content []byte) error {
	ctx, remove := context.WithCancel(ctx)
	defer remove()
	var file *os.File
	options := b.parts(int64(len(content)))
	set := options.BeforeWrite
	options.BeforeWrite = func(as func(any) bool) error {
		as(&file)
		return set(as)
	}
	to, err := b.bucket.NewWriter(ctx, name, options)
	if err != nil {
		return err
	}
	defer func() {
		remove()
		_ = to.Close() // This removes the temporary name.
	}()
	if _, err := to.Write(content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	path := strings.TrimSuffix(file.Name(), ".tmp")
	path = strings.TrimSuffix(path, filepath.Ext(path))
	err = os.Link(file.Name(), path)
	if err == nil || errors.Is(err, os.ErrExist) {
		return existing(err)
	}
	return writeNew(path, content) // Without a link, because not all volumes support links.
}

// writeNew writes a file, unless it exists. If the process ends before it has written the whole file, the checksum in
// the file shows this to a reader.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return existing(err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// existing returns snapshot.ErrExists for the error of a file that exists, and other errors as they are.
func existing(err error) error {
	if errors.Is(err, os.ErrExist) {
		return snapshot.ErrExists
	}
	return err
}

// Remove removes an object, if the bucket allows it.
func (b *Bucket) Remove(ctx context.Context, name string) { _ = b.bucket.Delete(ctx, name) }
