package slabs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassesAreThoseWithPagesInTheOrderOfTheirChunks(t *testing.T) {
	got := classes(map[string]map[string]string{
		"10": {"chunk_size": "752", "total_pages": "2", "total_chunks": "2788", "used_chunks": "2000"},
		"2":  {"chunk_size": "120", "total_pages": "1", "total_chunks": "8738", "used_chunks": "5"},
		"3":  {"chunk_size": "152", "total_pages": "0"},
	}, map[string]map[string]string{
		"10": {
			"number": "1990", "mem_requested": "1400000", "age": "60", "evicted": "7", "evicted_time": "30", "outofmemory": "1",
		},
	})
	want := []Class{
		{Number: 2, ChunkSize: 120, Pages: 1, Chunks: 8738, Used: 5},
		{
			Number: 10, ChunkSize: 752, Pages: 2, Chunks: 2788, Used: 2000, Items: 1990, Requested: 1400000, Age: 60,
			Evicted: 7, EvictedAge: 30, OutOfMemory: 1,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSizesAreThoseOfAllServers(t *testing.T) {
	got := Sizes([][]Class{
		{{ChunkSize: 96, Items: 2, Requested: 150}, {ChunkSize: 752, Items: 1, Requested: 700}},
		{{ChunkSize: 96, Items: 1, Requested: 70}, {ChunkSize: 120}},
	})
	want := []Bucket{{AtMost: 96, Items: 3, Bytes: 220}, {AtMost: 752, Items: 1, Bytes: 700}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
