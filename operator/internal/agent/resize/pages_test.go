package resize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPagesOf(t *testing.T) {
	tests := map[string]struct {
		stats map[string]string
		want  pages
	}{
		"an empty memcached": {map[string]string{"total_malloced": "0"}, pages{}},
		"the class with most bytes in free chunks": {
			map[string]string{
				"total_malloced": "10485760",
				"1:total_pages":  "4", "1:free_chunks": "100", "1:chunk_size": "96",
				"5:total_pages": "5", "5:free_chunks": "20", "5:chunk_size": "1000",
				"active_slabs": "2",
			},
			pages{taken: 10 << 20, classes: 2, roomiest: 5},
		},
		"a class keeps its only page": {
			map[string]string{
				"total_malloced": "3145728",
				"1:total_pages":  "1", "1:free_chunks": "9000", "1:chunk_size": "96",
				"5:total_pages": "2", "5:free_chunks": "0", "5:chunk_size": "1000",
			},
			pages{taken: 3 << 20, classes: 2, roomiest: 5},
		},
		"pages that belong to no class are no class": {
			map[string]string{"total_malloced": "2097152", "0:total_pages": "2", "0:free_chunks": "2", "0:chunk_size": "1048576"},
			pages{taken: 2 << 20},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := pagesOf(tc.stats)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(pages{})); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := pagesOf(map[string]string{"1:total_pages": "1"}); err == nil {
		t.Error("an answer without the memory is read")
	}
}

func TestTheFirstPagesOfClassesFit(t *testing.T) {
	p := pages{taken: 67 << 20, classes: 3}
	if !p.fit(64<<20) || p.fit(63<<20) {
		t.Errorf("67 MiB with 3 classes fit 64 MiB: %t, and 63 MiB: %t", p.fit(64<<20), p.fit(63<<20))
	}
}
