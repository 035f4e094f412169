package format

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// BlockSize is the size at which a block is written. No item is split, so a block may be larger by one item.
const BlockSize = 256 << 10

// Writer writes an object.
type Writer struct {
	to     io.Writer
	hash   hash.Hash
	packer *zstd.Encoder
	number uint32

	block  []byte
	packed []byte
	items  int
	counts Counts
}

// NewWriter begins an object.
func NewWriter(to io.Writer, head Head) (*Writer, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(BlockSize), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	w := &Writer{to: to, hash: sha256.New(), packer: packer, block: make([]byte, 0, BlockSize+BlockSize/4)}
	head.Version = Version
	return w, w.document(kindHead, head)
}

// Write adds an item, and keeps no reference to its memory.
func (w *Writer) Write(i Item) error {
	if len(i.Key) == 0 || len(i.Key) > MaxKey || len(i.Value) > MaxValue || i.Expires < 0 || i.Used < 0 {
		return fmt.Errorf("an item with a key of %d bytes, a value of %d, and the times %d and %d cannot be written",
			len(i.Key), len(i.Value), i.Expires, i.Used)
	}
	w.block = appendItem(w.block, i)
	w.items++
	w.counts.Items++
	w.counts.Bytes += int64(len(i.Key) + len(i.Value))
	if len(w.block) < BlockSize {
		return nil
	}
	return w.flush()
}

// flush writes the items as a block: compressed, if that makes it smaller.
func (w *Writer) flush() error {
	if w.items == 0 {
		return nil
	}
	f := frame{kind: kindItems, content: w.block, plain: len(w.block), items: w.items}
	w.packed = w.packer.EncodeAll(w.block, w.packed[:0])
	if len(w.packed) < len(w.block) {
		f.kind, f.content = kindPacked, w.packed
	}
	err := w.frame(f)
	w.block, w.packed, w.items = reuse(w.block), reuse(w.packed), 0
	w.counts.Blocks++
	return err
}

// reuse empties a buffer, or drops it if a large item has made it large.
func reuse(buffer []byte) []byte {
	if cap(buffer) > 2*BlockSize {
		return nil
	}
	return buffer[:0]
}

// Close writes the end, without which the object is not whole. It returns the counts and the checksum for the manifest.
func (w *Writer) Close() (End, error) {
	if err := w.flush(); err != nil {
		return End{}, err
	}
	end := End{Counts: w.counts, SHA256: hex.EncodeToString(w.hash.Sum(nil))}
	return end, w.document(kindEnd, end)
}

func (w *Writer) document(kind byte, document any) error {
	content, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return w.frame(frame{kind: kind, content: content, plain: len(content)})
}

func (w *Writer) frame(f frame) error {
	for _, part := range [][]byte{f.header(w.number), f.content} {
		_, _ = w.hash.Write(part)
		if _, err := w.to.Write(part); err != nil {
			return err
		}
	}
	w.number++
	return nil
}
