package format

// Reads frames, and makes their headers. A frame is a header of fixed size, and the content.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Kinds of frames.
const (
	kindHead   = 'H' // JSON
	kindItems  = 'I' // items
	kindPacked = 'Z' // items, compressed by zstd
	kindEnd    = 'E' // JSON
)

// magic begins each header.
const magic = "MCSN"

// headerSize is the size of the header of a frame: magic, kind, three zero bytes, number of the frame, size of the
// content, its size before compression, number of items, checksum of the content, and checksum of the header before
// this checksum. All numbers are little endian and have 4 bytes.
const headerSize = 32

// maxContent limits the content of a frame: it is enough for a block with one item of the largest size.
const maxContent = MaxValue + 1<<10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a frame without its number.
type frame struct {
	kind    byte
	content []byte
	plain   int // bytes before compression
	items   int
}

func (f frame) header(number uint32) []byte {
	h := append(make([]byte, 0, headerSize), magic...)
	h = append(h, f.kind, 0, 0, 0)
	for _, value := range []uint32{
		number, uint32(len(f.content)), uint32(f.plain), uint32(f.items), //nolint:gosec // All are limited by maxContent.
		crc32.Checksum(f.content, castagnoli),
	} {
		h = binary.LittleEndian.AppendUint32(h, value)
	}
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// readFrame reads the next frame, which must have this number. Its content is in the buffer, and valid until the next
// frame is read.
func readFrame(from io.Reader, number uint32, buffer *bytes.Buffer) (frame, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(from, header[:]); err != nil {
		return frame{}, cut(err)
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(header[8+4*i:]) }
	if field(5) != crc32.Checksum(header[:headerSize-4], castagnoli) || string(header[:len(magic)]) != magic {
		return frame{}, damaged("block %d has no valid header", number)
	}
	if field(0) != number {
		return frame{}, damaged("block %d is where block %d should be", field(0), number)
	}
	size := int64(field(1))
	if size > maxContent || field(2) > maxContent {
		return frame{}, damaged("block %d, with %d bytes, is larger than a block may be", number, size)
	}
	buffer.Reset()
	if _, err := io.CopyN(buffer, from, size); err != nil {
		return frame{}, cut(err)
	}
	if field(4) != crc32.Checksum(buffer.Bytes(), castagnoli) {
		return frame{}, damaged("block %d does not have the checksum that its header has", number)
	}
	return frame{kind: header[len(magic)], content: buffer.Bytes(), plain: int(field(2)), items: int(field(3))}, nil
}

// cut returns ErrCut for the end of a stream, and other errors as they are.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCut
	}
	return err
}
