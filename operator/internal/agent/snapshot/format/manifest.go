package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// maxManifest limits how many bytes of a manifest are read. The manifest of a thousand servers has a tenth of this
// size.
const maxManifest = 4 << 20

// Manifest names all objects of a snapshot. It is written last: a snapshot without it is not whole.
type Manifest struct {
	Version  int    `json:"version"`
	Snapshot string `json:"snapshot"`
	Cache    string `json:"cache"`

	// Owner says for whom the snapshot was made, because several owners may choose the same name for a snapshot. It is
	// empty if there is no owner.
	Owner string `json:"owner"`

	Time  time.Time `json:"time"`
	Ended time.Time `json:"ended"`
	Slots []Slot    `json:"slots"`
}

// Slot describes the object of one server.
type Slot struct {
	Name   string `json:"name"`
	Object string `json:"object"` // its name has the names of the slot and of the attempt
	Size   int64  `json:"size"`   // bytes of the object
	End

	// LeftOut are the items that the server had, and the object does not have.
	LeftOut LeftOut `json:"leftOut"`
}

// LeftOut counts items that are not in a snapshot.
type LeftOut struct {
	Numbers  int64 `json:"numbers"`  // values that incr and decr change
	Stale    int64 `json:"stale"`    // items that are marked as stale, or that a client is to write again
	Expiring int64 `json:"expiring"` // items that expire within a second
	Unnamed  int64 `json:"unnamed"`  // items whose key no command can name
	Failed   int64 `json:"failed"`   // items that memcached could not return
}

// Names are the names of the servers, in the order in which clients list them.
func (m Manifest) Names() []string {
	names := make([]string, len(m.Slots))
	for i, slot := range m.Slots {
		names[i] = slot.Name
	}
	return names
}

// Total is the sum over all servers.
func (m Manifest) Total() (total Counts) {
	for _, slot := range m.Slots {
		total.Items += slot.Items
		total.Bytes += slot.Bytes
		total.Blocks += slot.Blocks
	}
	return total
}

// sealed is a manifest in the form in which it is written.
type sealed struct {
	Manifest Manifest `json:"manifest"`

	// SHA256 is the checksum of the manifest's JSON without indentation.
	SHA256 string `json:"sha256"`
}

// Encode returns the content of the manifest's object.
func (m Manifest) Encode() ([]byte, error) {
	m.Version = Version
	content, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	content, err = json.MarshalIndent(sealed{m, hex.EncodeToString(sum[:])}, "", "  ")
	return append(content, '\n'), err
}

// ReadManifest reads a manifest. It accepts only content that Encode could have written, byte by byte.
func ReadManifest(from io.Reader) (Manifest, error) {
	content, err := io.ReadAll(io.LimitReader(from, maxManifest))
	if err != nil {
		return Manifest{}, err
	}
	var s sealed
	if err := json.Unmarshal(content, &s); err != nil {
		return Manifest{}, damaged("the manifest is no JSON, or cut off: %w", err)
	}
	if s.Manifest.Version > Version {
		return Manifest{}, errors.New("its format is that of another version: read it with the program that wrote it")
	}
	want, err := s.Manifest.Encode()
	if err != nil || !bytes.Equal(want, content) {
		return Manifest{}, damaged("the manifest does not have the checksum that it contains")
	}
	return s.Manifest, nil
}
