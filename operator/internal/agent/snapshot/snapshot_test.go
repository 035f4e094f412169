package snapshot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot/format"
)

// stored returns a store with a snapshot "daily" of the servers shop-0 and shop-1.
func stored(t *testing.T) *memory { return storedFor(t, "") }

func storedFor(t *testing.T, owner string) *memory {
	t.Helper()
	store := newMemory()
	m := format.Manifest{Snapshot: "ABC", Cache: "shop", Owner: owner, Slots: make([]format.Slot, 2)}
	for i, name := range []string{"shop-0", "shop-1"} {
		to, err := store.Create(t.Context(), "daily/"+name, 0)
		if err != nil {
			t.Fatal(err)
		}
		object := &counted{to: to}
		w, err := format.NewWriter(object, format.Head{Snapshot: "ABC", Slot: name})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "c"}[i:] {
			if err := w.Write(format.Item{Key: []byte(key), Value: []byte("value of " + name)}); err != nil {
				t.Fatal(err)
			}
		}
		m.Slots[i].Name, m.Slots[i].Object = name, name
		if m.Slots[i].End, err = w.Close(); err != nil {
			t.Fatal(err)
		}
		m.Slots[i].Size = object.bytes
	}
	content, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	store.objects[objectName("daily", manifestName)] = content
	return store
}

// TestWhatIsNotWholeIsNamed tries everything that may happen to a snapshot in a bucket.
func TestWhatIsNotWholeIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(objects, others map[string][]byte)
		snapshot string
		want     string // the error; empty: the snapshot is complete
	}{
		"nothing happened": {change: func(_, _ map[string][]byte) {}},
		"another snapshot is requested": {
			snapshot: "weekly", change: func(_, _ map[string][]byte) {},
			want: `there is no snapshot "weekly". The whole snapshots are daily`,
		},
		"the manifest is missing": {
			change: func(objects, _ map[string][]byte) { delete(objects, "daily/manifest.json") },
			want:   `the snapshot "daily" is not whole, because the save was not finished. There are no whole snapshots`,
		},
		"the manifest is cut off": {
			change: func(objects, _ map[string][]byte) {
				objects["daily/manifest.json"] = objects["daily/manifest.json"][:100]
			},
			want: "daily/manifest.json: it is damaged",
		},
		"an object is missing": {
			change: func(objects, _ map[string][]byte) { delete(objects, "daily/shop-1") },
			want:   "daily/shop-1: it does not exist",
		},
		"an object is cut off": {
			change: func(objects, _ map[string][]byte) { objects["daily/shop-1"] = objects["daily/shop-1"][:50] },
			want:   "daily/shop-1: it has 50 bytes",
		},
		"an object has another byte": {
			change: func(objects, _ map[string][]byte) { objects["daily/shop-0"][300]++ },
			want:   "daily/shop-0: it is damaged",
		},
		"an object is that of another attempt": {
			change: func(objects, others map[string][]byte) { objects["daily/shop-0"] = others["daily/shop-0"] },
			want:   "daily/shop-0: it has",
		},
		"two objects are exchanged": {
			change: func(objects, _ map[string][]byte) {
				objects["daily/shop-0"], objects["daily/shop-1"] = objects["daily/shop-1"], objects["daily/shop-0"]
			},
			want: "daily/shop-0: it has",
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, other := stored(t), stored(t)
			other.objects["daily/shop-0"] = append(other.objects["daily/shop-0"], 0)
			tc.change(store.objects, other.objects)
			snapshot := "daily"
			if tc.snapshot != "" {
				snapshot = tc.snapshot
			}
			m, err := (&Verify{Store: store, Name: snapshot}).Run(t.Context())
			if tc.want == "" {
				if err != nil || m.Total().Items != 5 {
					t.Errorf("%+v, %v", m.Total(), err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// TestAnObjectThatTheManifestDoesNotMeanIsFound, even if both the object and the manifest are complete.
func TestAnObjectThatTheManifestDoesNotMeanIsFound(t *testing.T) {
	for want, change := range map[string]func(*format.Manifest){
		"daily/shop-0: it is the object of shop-0, from another snapshot": func(m *format.Manifest) { m.Snapshot = "DEF" },
		"daily/shop-1: it has 2 items and the checksum":                   func(m *format.Manifest) { m.Slots[1].SHA256 = "0" },
		"daily/shop-0: it has 3 items and the checksum":                   func(m *format.Manifest) { m.Slots[0].Items++ },
	} {
		store := stored(t)
		m, err := format.ReadManifest(strings.NewReader(string(store.objects["daily/manifest.json"])))
		if err != nil {
			t.Fatal(err)
		}
		change(&m)
		if store.objects["daily/manifest.json"], err = m.Encode(); err != nil {
			t.Fatal(err)
		}
		_, err = (&Verify{Store: store, Name: "daily"}).Run(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestASnapshotThatExistsIsNotReplaced(t *testing.T) {
	store := stored(t)
	_, err := (&Save{Store: store, Name: "daily"}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `"daily" exists: choose another name`) {
		t.Error(err)
	}
}

func TestAnAttemptAfterOneThatHasEndedReportsItsSnapshot(t *testing.T) {
	cut := func(m *memory) { m.objects["daily/shop-1"] = m.objects["daily/shop-1"][:50] }
	for sentence, tc := range map[string]struct {
		owner  string // of the snapshot
		save   *Save
		change func(*memory)
		want   string // of the error; empty: the snapshot is reported
	}{
		"of the same cache": {save: &Save{Cache: "shop"}},
		"of another cache": {
			save: &Save{Cache: "sessions"}, want: `"daily" exists: choose another name, or delete it. It was made for ` +
				`the cache "shop" with the servers shop-0, shop-1, without an owner, and not for the cache "sessions"`,
		},
		"of other servers": {
			save: &Save{Cache: "shop", Servers: []Server{{Name: "shop-0"}}}, want: "and not for the cache \"shop\" with the servers shop-0,",
		},
		"of the same owner": {owner: "a", save: &Save{Cache: "shop", Owner: "a"}},
		"of another owner": {
			owner: "a", save: &Save{Cache: "shop", Owner: "b"}, want: `It was made for the owner "a", and not for the owner "b"`,
		},
		"of an owner, and this one has none": {
			owner: "a", save: &Save{Cache: "shop"}, want: `It was made for the owner "a", and not for the cache "shop"`,
		},
		"of nobody, and this one has an owner": {
			save: &Save{Cache: "shop", Owner: "b"}, want: `without an owner, and not for the owner "b"`,
		},
		"and an object is cut off": {save: &Save{Cache: "shop"}, change: cut, want: "it was cut off"},
	} {
		t.Run(sentence, func(t *testing.T) {
			store := storedFor(t, tc.owner)
			if tc.change != nil {
				tc.change(store)
			}
			save := tc.save
			save.Store, save.Name, save.Once = store, "daily", true
			if save.Servers == nil {
				save.Servers = []Server{{Name: "shop-0"}, {Name: "shop-1"}}
			}
			m, err := save.Run(t.Context())
			if tc.want == "" && (err != nil || m.Total().Items != 5) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%d items, error %v", m.Total().Items, err)
			}
		})
	}
}

func TestWhereAnItemGoes(t *testing.T) {
	m := format.Manifest{Slots: []format.Slot{{Name: "shop-0"}, {Name: "shop-1"}}}
	two := []Server{{Name: "shop-1", Address: "b:11211"}, {Name: "shop-0", Address: "a:11211"}}
	three := append(two, Server{Name: "shop-2", Address: "c:11211"})
	for name, tc := range map[string]struct {
		servers []Server
		hash    clienthash.Algorithm
		want    map[string]int // by slot/key
		refused string
	}{
		"the same names, in any order":     {servers: two, want: map[string]int{"shop-0/a": 1, "shop-1/a": 0}},
		"another number, without the hash": {servers: three, refused: "set --client-hash"},
		"other names, without the hash":    {servers: three[1:], refused: "the servers shop-0, shop-1, but --server names shop-0, shop-2"},
		"another number, with the hash": {
			servers: three, hash: clienthash.CRC32Modulo,
			want: map[string]int{"shop-0/a": 0, "shop-1/a": 0, "shop-0/key": 1, "shop-0/b": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			of, err := (&Restore{Servers: tc.servers, Hash: tc.hash}).places(m)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("error %v, want %s", err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for item := range tc.want {
				slot, key, _ := strings.Cut(item, "/")
				got[item] = of(slot, []byte(key))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesThatNoBucketTakesAreRefused(t *testing.T) {
	for name, ok := range map[string]bool{
		"shop-0": true, "shop-20261127T120000Z": true, "": false, "a/b": false, "..": false, ".a": false, "a b": false,
		"manifest.json": false, strings.Repeat("a", 201): false, "é": false,
	} {
		if err := ValidateName(name); err == nil != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
