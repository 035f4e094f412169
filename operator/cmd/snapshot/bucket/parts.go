package bucket

// Sends an object in parts, so that only a few parts are in memory at a time.

import (
	"os"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// S3 accepts at most 10,000 parts of at least 5 MiB for an object. The size of a part is chosen for half as many parts,
// because the stored object may be larger than memcached's statistics say.
const (
	leastPart = 5 << 20
	mostParts = 5_000
)

// fileMode keeps other users from reading the values in a file. The group may read the file, because another Pod with
// the same volume may run as another user, but has the group of the volume.
const fileMode = 0o640

// parts returns the options for an object of about this size.
func (b *Bucket) parts(size int64) *blob.WriterOptions {
	part := max(leastPart, size/mostParts)
	return &blob.WriterOptions{
		BufferSize: int(part), MaxConcurrency: 1, ContentType: "application/octet-stream",
		BeforeWrite: func(as func(any) bool) error {
			var file *os.File
			if as(&file) {
				_ = file.Chmod(fileMode) // An error is ignored, because some volumes do not support modes.
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
