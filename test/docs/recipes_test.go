package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/docs"
)

const recipes = "../../docs/recipes/"

// TestTheDocsShowTheFileOfEachRecipe: the page of a recipe shows the program's configuration as it is in the tested
// file.
func TestTheDocsShowTheFileOfEachRecipe(t *testing.T) {
	for name, file := range recipeFiles(t) {
		extension := strings.TrimPrefix(filepath.Ext(file), ".")
		language := map[string]string{"conf": "ini", "py": "python", "rb": "ruby"}[extension]
		if language == "" {
			language = extension
		}
		block := fmt.Sprintf("```%s\n%s```\n\nThis is [%[3]s](%[3]s).\n\n", language, page.Read(t, file), filepath.Base(file))
		page.Tables(t, recipes+name+".md", *update, map[string]string{"configuration": block})
	}
}

// clientsOf finds, for each clientHash of a recipe's cache, the setting in the recipe's file by which the program
// chooses servers by that hash.
var clientsOf = map[cachev1.ClientHash]*regexp.Regexp{
	cachev1.HashKetama:     regexp.MustCompile(`OPT_LIBKETAMA_COMPATIBLE => true`),
	cachev1.HashRendezvous: regexp.MustCompile(`PyMemcacheCache|dogpile\.cache\.pymemcache`),
	// Thanos and dskit (Mimir) have no other hash. Loki's and Tempo's files say consistent_hash.
	cachev1.HashJumpSorted: regexp.MustCompile(`consistent_hash: true|type: MEMCACHED|backend: memcached`),
}

// address finds the address of a server, even if the file has the host and the port in separate fields.
var address = regexp.MustCompile(`([a-z0-9.-]+\.svc)(?:', 'port' => |:)([0-9]+)`)

// TestEachRecipeNamesTheSlotsOfItsCache compares the addresses in the file of a recipe, and their order, with the
// addresses that status.slots of the recipe's cache would have.
func TestEachRecipeNamesTheSlotsOfItsCache(t *testing.T) {
	caches := recipeCaches(t)
	for name, file := range recipeFiles(t) {
		content := page.Read(t, file)
		var got, want []string
		for _, found := range address.FindAllStringSubmatch(content, -1) {
			got = append(got, found[1]+":"+found[2])
		}
		for _, cache := range caches[name] {
			want = append(want, slotAddresses(cache)...)
			hash := cache.Spec.Slots.ClientHash
			if hash != "" && (clientsOf[hash] == nil || !clientsOf[hash].MatchString(content)) {
				t.Errorf("%s: the page has clientHash %s, but nothing in the file chooses by it", file, hash)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%s (-slots +addresses):\n%s", file, diff)
		}
	}
}

// TestTheIndexHasEachRecipeWithItsMode compares the rows of the index with the caches on the pages of the recipes.
func TestTheIndexHasEachRecipeWithItsMode(t *testing.T) {
	index := page.Read(t, recipes+"README.md")
	for name, caches := range recipeCaches(t) {
		row := page.Find(t, index, `(?m)^\| \[\w+\]\(`+name+`\.md\) \| (.*)$`)
		for _, cache := range caches {
			slots := cache.Spec.Slots
			mode, hash := string(slots.Mode), string(slots.ClientHash)
			if mode == "" {
				mode = string(cachev1.SlotsDNS)
			}
			if hash == "" {
				hash = "none"
			}
			if !strings.Contains(row, "| `"+mode+"` |") || !strings.Contains(row, hash) {
				t.Errorf("%s has %s and %s, but its row is: %s", name, mode, hash, row)
			}
		}
	}
}

// recipeFiles are the configurations of programs, by the name of the recipe.
func recipeFiles(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(recipes)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	pages := 0
	for _, entry := range entries {
		name, extension := strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name())), filepath.Ext(entry.Name())
		switch {
		case entry.Name() == "README.md":
		case extension == ".md":
			pages++
		default:
			files[name] = recipes + entry.Name()
		}
	}
	if len(files) == 0 || len(files) != pages {
		t.Fatalf("%d pages have %d files", pages, len(files))
	}
	return files
}

// recipeCaches are the Memcacheds on the pages of recipes, by the name of the recipe.
func recipeCaches(t *testing.T) map[string][]cachev1.Memcached {
	t.Helper()
	manifests, err := docs.Manifests("../..")
	if err != nil {
		t.Fatal(err)
	}
	caches := map[string][]cachev1.Memcached{}
	for _, manifest := range manifests {
		path, _, _ := strings.Cut(manifest.Where, ":")
		if filepath.Dir(path) != "docs/recipes" {
			continue
		}
		var cache cachev1.Memcached
		err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(manifest.Object.Object, &cache, true)
		if err != nil || cache.Spec.Slots == nil || cache.Spec.Size == nil {
			t.Fatalf("%s is no Memcached with size and slots: %v", manifest.Where, err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		caches[name] = append(caches[name], cache)
	}
	if len(caches) == 0 {
		t.Fatal("no page of a recipe has a Memcached")
	}
	return caches
}

// slotAddresses are the addresses of the slots of a cache, as docs/slots.md says.
func slotAddresses(cache cachev1.Memcached) (addresses []string) {
	for number := range int(*cache.Spec.Size) {
		host := fmt.Sprintf("%s-%d", cache.Name, number)
		if cache.Spec.Slots.Mode != cachev1.SlotsClusterIP {
			host += "." + cache.Name + "-slots"
		}
		addresses = append(addresses, fmt.Sprintf("%s.%s.svc:11211", host, cache.Namespace))
	}
	return addresses
}
