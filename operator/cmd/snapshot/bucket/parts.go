package bucket

// The parts in which an object is sent, so that few of them are in memory.

import (
	"os"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// S3 accepts at most 10,000 parts of at least 5 MiB. Only half of them are planned, because the stored object may be
// larger than memcached's statistics say.
const (
	leastPart = 5 << 20
	mostParts = 5_000
)

// fileMode keeps other users from reading values. Another Pod with the volume may run as another user, but has the
// group of the volume.
const fileMode = 0o640

// parts returns the options for an object of about this size.
func (b *Bucket) parts(size int64) *blob.WriterOptions {
	part := max(leastPart, size/mostParts)
	return &blob.WriterOptions{
		BufferSize: int(part), MaxConcurrency: 1, ContentType: "application/octet-stream",
		BeforeWrite: func(as func(any) bool) error {
			var file *os.File
			if as(&file) {
				_ = file.Chmod(fileMode) // Some volumes do not support this.
			}
			var manager *transfermanager.Client
			var client *s3.Client
			if as(&manager) && b.bucket.As(&client) {
				*manager = *transfermanager.New(client, func(o *transfermanager.Options) {
					o.PartSizeBytes, o.Concurrency = part, 1
					o.MultipartUploadThreshold = part // By default, the library collects 16 MiB first.
					o.RequestChecksumCalculation = client.Options().RequestChecksumCalculation
				})
			}
			return nil
		},
	}
}
