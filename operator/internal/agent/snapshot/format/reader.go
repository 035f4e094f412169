package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Reader reads an object.
type Reader struct {
	// Head is the head of the object.
	Head Head

	from     io.Reader
	hash     hash.Hash
	unpacker *zstd.Decoder
	number   uint32

	buffer bytes.Buffer // the content of a frame
	plain  []byte       // the same content without compression
	block  []byte       // the items of the block that Next has not returned yet
	items  int          // their number
	counts Counts
	end    *End
}

// NewReader reads the head of an object.
func NewReader(from io.Reader) (*Reader, error) {
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxContent))
	if err != nil {
		return nil, err
	}
	r := &Reader{from: from, hash: sha256.New(), unpacker: unpacker}
	f, err := r.frame()
	if err != nil {
		return nil, err
	}
	if f.kind != kindHead || json.Unmarshal(f.content, &r.Head) != nil {
		return nil, damaged("it does not begin with a head")
	}
	if r.Head.Version != Version {
		return nil, errors.New("its format is that of another version: read it with the program that wrote it")
	}
	return r, nil
}

// Next returns the next item, and io.EOF after the last one of a whole object. The item is valid until the next call.
func (r *Reader) Next() (Item, error) {
	for r.items == 0 {
		if err := r.next(); err != nil {
			return Item{}, err
		}
	}
	i, rest, ok := cutItem(r.block)
	r.items--
	if !ok || r.items == 0 && len(rest) > 0 {
		return Item{}, damaged("block %d has an item that no writer writes", r.number-1)
	}
	r.block = rest
	r.counts.Items++
	r.counts.Bytes += int64(len(i.Key) + len(i.Value))
	return i, nil
}

// End returns the end of the object, with its counts and checksum, once Next has returned io.EOF.
func (r *Reader) End() End {
	if r.end == nil {
		return End{}
	}
	return *r.end
}

// Close releases the memory of the reader.
func (r *Reader) Close() { r.unpacker.Close() }

// next reads the next block, or the end.
func (r *Reader) next() error {
	if r.end != nil {
		return io.EOF
	}
	sum := hex.EncodeToString(r.hash.Sum(nil))
	f, err := r.frame()
	if err != nil {
		return err
	}
	switch f.kind {
	case kindItems:
		r.block = f.content
	case kindPacked:
		if r.plain, err = r.unpack(f); err != nil {
			return err
		}
		r.block = r.plain
	case kindEnd:
		return r.finish(f, sum)
	default:
		return damaged("block %d is of an unknown kind", r.number-1)
	}
	if f.items == 0 || len(r.block) != f.plain {
		return damaged("block %d does not have the size that its header says", r.number-1)
	}
	r.items = f.items
	r.counts.Blocks++
	return nil
}

func (r *Reader) unpack(f frame) ([]byte, error) {
	plain := r.plain
	if cap(plain) < f.plain || cap(plain) > 2*BlockSize {
		plain = make([]byte, 0, max(f.plain, BlockSize))
	}
	plain, err := r.unpacker.DecodeAll(f.content, plain[:0:f.plain])
	if err != nil {
		return nil, damaged("block %d cannot be unpacked: %w", r.number-1, err)
	}
	return plain, nil
}

// finish compares the counts and the checksum with those in the end, and makes sure that nothing follows it.
func (r *Reader) finish(f frame, sum string) error {
	var end End
	if err := json.Unmarshal(f.content, &end); err != nil {
		return damaged("its end cannot be read: %w", err)
	}
	if want := (End{Counts: r.counts, SHA256: sum}); end != want {
		return damaged("it has %d items and the checksum %.12s, but its end says %d items and the checksum %.12s",
			want.Items, want.SHA256, end.Items, end.SHA256)
	}
	switch _, err := io.ReadFull(r.from, make([]byte, 1)); {
	case err == nil:
		return damaged("something follows its end")
	case !errors.Is(err, io.EOF):
		return err
	}
	r.end = &end
	return io.EOF
}

// frame reads a frame, and adds it to the checksum of everything before the next frame.
func (r *Reader) frame() (frame, error) {
	if r.buffer.Cap() > 2*BlockSize {
		r.buffer = bytes.Buffer{}
	}
	f, err := readFrame(io.TeeReader(r.from, r.hash), r.number, &r.buffer)
	r.number++
	return f, err
}
