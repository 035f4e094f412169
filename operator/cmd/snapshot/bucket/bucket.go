// Package bucket keeps the objects of snapshots in a bucket of a cloud, or in a folder.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

// Forms are the URLs that Open takes.
const Forms = "s3://BUCKET?region=REGION, gs://BUCKET, azblob://CONTAINER, or the absolute path of a folder"

// Bucket is a snapshot.Store.
type Bucket struct {
	bucket *blob.Bucket
	pause  time.Duration // before an object is opened again
}

// Open opens a bucket by its URL, or a folder by its absolute path. Credentials are those that the library of the cloud
// finds: in the environment, in files, or by the identity of the workload.
func Open(ctx context.Context, location string) (*Bucket, error) {
	u, err := parse(location)
	if err != nil {
		return nil, err
	}
	b, err := blob.DefaultURLMux().OpenBucketURL(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%s://%s%s cannot be opened: %w", u.Scheme, u.Host, u.Path, err)
	}
	return &Bucket{b, time.Second}, nil
}

// parse returns the URL of a bucket. A folder is made if it does not exist, and nothing is written outside of it.
func parse(location string) (*url.URL, error) {
	if filepath.IsAbs(location) {
		location = (&url.URL{Scheme: "file", Path: location}).String()
	}
	u, err := url.Parse(location)
	if err != nil || !slices.Contains([]string{"s3", "gs", "azblob", "file"}, u.Scheme) || u.Host+u.Path == "" {
		return nil, errors.New("it is no URL of a bucket: write " + Forms) // It may have a password.
	}
	if u.Scheme == "file" {
		query := u.Query()
		for name, value := range map[string]string{"create_dir": "true", "no_tmp_dir": "true", "metadata": "skip"} {
			if !query.Has(name) {
				query.Set(name, value)
			}
		}
		u.RawQuery = query.Encode()
	}
	return u, nil
}

// Close ends the use of the bucket.
func (b *Bucket) Close() error { return b.bucket.Close() }

// Create writes an object. It exists once the writer is closed, and not if the context ended before.
func (b *Bucket) Create(ctx context.Context, name string, size int64) (io.WriteCloser, error) {
	return b.bucket.NewWriter(ctx, name, b.parts(size))
}

// Open reads an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	reader, err := b.from(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	return &resumed{ctx: ctx, from: b, name: name, reader: reader}, nil
}

// from reads an object from a byte on.
func (b *Bucket) from(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	const toItsEnd = -1
	reader, err := b.bucket.NewRangeReader(ctx, name, offset, toItsEnd, nil)
	if err != nil {
		return nil, known(err)
	}
	return reader, nil
}

// Size returns the size of an object.
func (b *Bucket) Size(ctx context.Context, name string) (int64, error) {
	attributes, err := b.bucket.Attributes(ctx, name)
	if err != nil {
		return 0, known(err)
	}
	return attributes.Size, nil
}

// List returns the names of all objects.
func (b *Bucket) List(ctx context.Context) (names []string, err error) {
	objects := b.bucket.List(nil)
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, object.Key)
	}
}

// known returns snapshot.ErrMissing for an object that does not exist.
func known(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return snapshot.ErrMissing
	}
	return err
}
