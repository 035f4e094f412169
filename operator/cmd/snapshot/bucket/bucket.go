// Package bucket keeps the objects of snapshots in a bucket of a cloud, or in a folder.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)

// Forms are the URLs that Open takes.
const Forms = "s3://BUCKET?region=REGION, gs://BUCKET, azblob://CONTAINER, or the absolute path of a folder"

// Bucket is a snapshot.Store.
type Bucket struct {
	bucket *blob.Bucket
	scheme string
	pause  time.Duration // how long to wait before an object is opened again
}

// Open opens a bucket by its URL, or a folder by its absolute path. The library of the cloud finds the credentials: in
// the environment, in files, or through the identity of the workload.
func Open(ctx context.Context, location string) (*Bucket, error) {
	u, err := parse(location)
	if err != nil {
		return nil, err
	}
	b, err := blob.DefaultURLMux().OpenBucketURL(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("%s://%s%s cannot be opened: %s", u.Scheme, u.Host, u.Path, withoutQueries(err))
	}
	return &Bucket{b, u.Scheme, time.Second}, nil
}

// Close releases the resources for the bucket.
func (b *Bucket) Close() error { return b.bucket.Close() }

// Open reads an object.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	reader, err := b.from(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	return &resumed{ctx: ctx, from: b, name: name, reader: reader}, nil
}

// from opens an object, and reads it from this offset on.
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
