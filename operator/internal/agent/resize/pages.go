package resize

// Reads how much memory a memcached has taken for items.

import (
	"context"
	"fmt"
	"strconv"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
)

// pages is the memory that memcached has taken for items, in pages of a mebibyte for each slab class.
type pages struct {
	taken    int64 // bytes
	classes  int64 // classes with a page: memcached takes the first page regardless of its limit, and keeps it
	roomiest int   // of the classes that can give up a page, the one with most bytes in free chunks; 0 if none can
}

// fit reports whether memcached has taken no more than this much memory, except for the first pages of its classes.
func (p pages) fit(memory int64) bool { return p.taken <= memory+p.classes*mebibyte }

func (m *memcached) pages(ctx context.Context) (pages, error) {
	stats, err := m.client.Stats(ctx, "slabs")
	if err != nil {
		return pages{}, err
	}
	return pagesOf(stats)
}

// pagesOf reads the answer to stats slabs.
func pagesOf(stats map[string]string) (found pages, err error) {
	if found.taken, err = strconv.ParseInt(stats["total_malloced"], 10, 64); err != nil {
		return found, fmt.Errorf("memcached has taken %q bytes for items", stats["total_malloced"])
	}
	most := int64(-1)
	for number, of := range exporter.ByClass(stats, "") {
		class, _ := strconv.Atoi(number)
		count, _ := strconv.ParseInt(of["total_pages"], 10, 64)
		if class == 0 || count == 0 {
			continue
		}
		found.classes++
		chunks, _ := strconv.ParseInt(of["free_chunks"], 10, 64)
		size, _ := strconv.ParseInt(of["chunk_size"], 10, 64)
		if count > 1 && chunks*size > most {
			found.roomiest, most = class, chunks*size
		}
	}
	return found, nil
}
