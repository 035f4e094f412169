package format

import (
	"encoding/binary"
)

// appendItem appends an item to a block: the sizes of key and value, flags, times, key, value.
func appendItem(to []byte, i Item) []byte {
	to = binary.AppendUvarint(to, uint64(len(i.Key)))
	to = binary.AppendUvarint(to, uint64(len(i.Value)))
	to = binary.AppendUvarint(to, uint64(i.Flags))
	to = binary.AppendVarint(to, i.Expires)
	to = binary.AppendVarint(to, i.Used)
	to = append(to, i.Key...)
	return append(to, i.Value...)
}

// cutItem returns the first item of a block, and the rest. The item shares the block's memory.
func cutItem(block []byte) (i Item, rest []byte, ok bool) {
	ok = true
	unsigned := func(limit uint64) uint64 {
		value, n := binary.Uvarint(block)
		if n <= 0 || value > limit {
			ok = false
			return 0
		}
		block = block[n:]
		return value
	}
	signed := func() int64 {
		value, n := binary.Varint(block)
		if n <= 0 || value < 0 {
			ok = false
			return 0
		}
		block = block[n:]
		return value
	}
	key, value := int(unsigned(MaxKey)), int(unsigned(MaxValue)) //nolint:gosec // Both are limited.
	i.Flags = uint32(unsigned(1<<32 - 1))                        //nolint:gosec // Limited, too.
	i.Expires, i.Used = signed(), signed()
	if !ok || key == 0 || len(block) < key+value {
		return Item{}, nil, false
	}
	i.Key, i.Value = block[:key:key], block[key:key+value:key+value]
	return i, block[key+value:], true
}
