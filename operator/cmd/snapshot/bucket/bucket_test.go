package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

// fakeS3 starts a server of S3 with the bucket "backups", and returns the URL of the bucket.
func fakeS3(t *testing.T, between func(http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(between(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "password")
	return "s3://backups?region=eu-central-1&use_path_style=true&prefix=caches/&endpoint=" + server.URL
}

func direct(h http.Handler) http.Handler { return h }

func open(t *testing.T, location string) *Bucket {
	t.Helper()
	b, err := Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func write(t *testing.T, b *Bucket, name string, content []byte) {
	t.Helper()
	to, err := b.Create(t.Context(), name, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// places calls do with a bucket, and with a folder.
func places(t *testing.T, do func(*testing.T, *Bucket)) {
	t.Helper()
	t.Run("s3", func(t *testing.T) { do(t, open(t, fakeS3(t, direct))) })
	t.Run("a path", func(t *testing.T) { do(t, open(t, filepath.Join(t.TempDir(), "new folder"))) })
	t.Run("a file URL", func(t *testing.T) { do(t, open(t, "file://"+t.TempDir())) })
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	places(t, func(t *testing.T, b *Bucket) {
		large := bytes.Repeat([]byte("0123456789abcdef"), (2*leastPart+100)/16) // three parts
		write(t, b, "daily/shop-0", large)
		write(t, b, "daily/manifest.json", []byte("{}"))
		from, err := b.Open(t.Context(), "daily/shop-0")
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		got, err := io.ReadAll(from)
		if err != nil || !bytes.Equal(got, large) {
			t.Errorf("%d of %d bytes: %v", len(got), len(large), err)
		}
		if size, err := b.Size(t.Context(), "daily/shop-0"); err != nil || size != int64(len(large)) {
			t.Errorf("%d of %d bytes: %v", size, len(large), err)
		}
		names, err := b.List(t.Context())
		if diff := cmp.Diff([]string{"daily/manifest.json", "daily/shop-0"}, names); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestAnObjectThatDoesNotExistIsMissing(t *testing.T) {
	places(t, func(t *testing.T, b *Bucket) {
		if _, err := b.Open(t.Context(), "daily/shop-0"); !errors.Is(err, snapshot.ErrMissing) {
			t.Errorf("opened: %v", err)
		}
		if _, err := b.Size(t.Context(), "daily/shop-0"); !errors.Is(err, snapshot.ErrMissing) {
			t.Errorf("its size: %v", err)
		}
	})
}

func TestAnObjectThatIsAbandonedDoesNotExist(t *testing.T) {
	places(t, func(t *testing.T, b *Bucket) {
		for _, size := range []int{0, 10, 2*leastPart + 1} {
			ctx, abandon := context.WithCancel(t.Context())
			to, err := b.Create(ctx, "daily/shop-0", 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := to.Write(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			abandon()
			if to.Close() == nil {
				t.Error("it is closed as if it were whole")
			}
			if names, err := b.List(t.Context()); err != nil || len(names) > 0 {
				t.Errorf("after %d bytes: %q, %v", size, names, err)
			}
		}
	})
}

func TestAFolderHasNothingButTheObjects(t *testing.T) {
	dir := t.TempDir()
	write(t, open(t, dir), "daily/shop-0", []byte("content"))
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if diff := cmp.Diff([]string{filepath.Join(dir, "daily/shop-0")}, files); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if content, err := os.ReadFile(files[0]); err != nil || string(content) != "content" {
		t.Errorf("%q, %v", content, err)
	}
}

// breaking ends the first connections that read an object, each after it has sent some bytes of the object: times is
// the number of these connections, and after the number of bytes.
type breaking struct {
	http.Handler
	after, times atomic.Int64
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/shop-0") && b.times.Add(-1) >= 0 {
		w = &short{w, int(b.after.Load())}
	}
	b.Handler.ServeHTTP(w, r)
}

type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(part []byte) (int, error) {
	if len(part) > s.left {
		_, _ = s.ResponseWriter.Write(part[:s.left])
		panic(http.ErrAbortHandler)
	}
	s.left -= len(part)
	return s.ResponseWriter.Write(part)
}

func TestReadingContinuesWhereAConnectionEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		times int64
		whole bool
	}{"two of them": {2, true}, "all of them": {1000, false}} {
		t.Run(name, func(t *testing.T) {
			const after = 100_000
			broken := &breaking{}
			broken.after.Store(after)
			b := open(t, fakeS3(t, func(h http.Handler) http.Handler {
				broken.Handler = h
				return broken
			}))
			content := bytes.Repeat([]byte("0123456789abcdef"), 500_000/16)
			write(t, b, "daily/shop-0", content)
			broken.times.Store(tc.times)
			b.pause = time.Millisecond
			from, err := b.Open(t.Context(), "daily/shop-0")
			if err != nil {
				t.Fatal(err)
			}
			if !tc.whole {
				broken.after.Store(0)
			}
			defer from.Close()
			got, err := io.ReadAll(iotest.OneByteReader(from))
			if whole := err == nil && bytes.Equal(got, content); whole != tc.whole {
				t.Errorf("%d of %d bytes: %v", len(got), len(content), err)
			}
		})
	}
}

func TestWhatIsNoBucketIsRefusedWithoutItsPassword(t *testing.T) {
	for _, location := range []string{
		"", "backups", "./folder", "ftp://user:secret@host/dir", "http://host", "s3://", "file://", "s3://%zz:secret@host",
	} {
		_, err := Open(t.Context(), location)
		if err == nil || !strings.Contains(err.Error(), "s3://BUCKET?region=REGION") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", location, err)
		}
	}
	_, err := Open(t.Context(), "s3://backups?unknown=secret")
	if err == nil || !strings.HasPrefix(err.Error(), "s3://backups cannot be opened") {
		t.Error(err)
	}
}
