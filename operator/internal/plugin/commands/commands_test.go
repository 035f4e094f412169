package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

// fleet is an API server with many Memcacheds and nothing else.
type fleet struct {
	items           []cachev1.Memcached
	namespaces      []string
	requests, bytes int
	patches         []string // with "dry-run" before each that changes nothing

	withoutCRD, mute bool
}

func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.withoutCRD:
		http.NotFound(w, r) // So does the API server.
		return
	case f.mute:
		<-r.Context().Done()
		return
	}
	if r.URL.Path == "/api/v1/namespaces" {
		f.serveNamespaces(w)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/apis/cache.example.com/v1/namespaces/team/memcacheds/"); ok {
		f.serveOne(w, r, name)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/memcacheds") {
		http.Error(w, "only lists of Memcacheds are served: "+r.URL.Path, http.StatusInternalServerError)
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	list := cachev1.MemcachedList{Items: f.items[from:min(from+limit, len(f.items))]}
	list.APIVersion, list.Kind = cachev1.GroupVersion.String(), "MemcachedList"
	if from+limit < len(f.items) {
		list.Continue = strconv.Itoa(from + limit)
	}
	content, _ := json.Marshal(list)
	f.requests, f.bytes = f.requests+1, f.bytes+len(content)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content)
}

func (f *fleet) serveNamespaces(w http.ResponseWriter) {
	list := corev1.NamespaceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NamespaceList"}}
	for _, name := range f.namespaces {
		list.Items = append(list.Items, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// serveOne serves one of the Memcacheds, and records patches without applying them.
func (f *fleet) serveOne(w http.ResponseWriter, r *http.Request, name string) {
	w.Header().Set("Content-Type", "application/json")
	for i := range f.items {
		if f.items[i].Name == name {
			if patch, _ := io.ReadAll(r.Body); r.Method == http.MethodPatch {
				f.patches = append(f.patches, strings.TrimPrefix(strings.ToLower(r.URL.Query().Get("dryRun"))+" "+string(patch), " "))
			}
			f.items[i].APIVersion, f.items[i].Kind = cachev1.GroupVersion.String(), "Memcached"
			_ = json.NewEncoder(w).Encode(f.items[i])
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(notFound(name))
}

// notFound is the answer of an API server that knows Memcacheds, but none with the requested name.
func notFound(name string) metav1.Status {
	status := apierrors.NewNotFound(cachev1.GroupVersion.WithResource("memcacheds").GroupResource(), name).Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return status
}

// run runs a command against a fleet.
func run(t *testing.T, f *fleet, arguments ...string) (string, error) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out bytes.Buffer
	root := New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, "1.2.3")
	flags := []string{"--server=" + server.URL, "--cache-dir=" + t.TempDir()} // Before the words to complete.
	root.SetArgs(slices.Insert(arguments, 1, flags...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// large is a Memcached with about as many slots, conditions and managed fields as a real one has at most.
func large(number int) cachev1.Memcached {
	mc := cachetest.Memcached(fmt.Sprintf("cache-%04d", number), cachev1.ReasonAllPodsReady, strings.Repeat("x", 500))
	mc.APIVersion, mc.Kind = cachev1.GroupVersion.String(), "Memcached"
	for n := range 20 {
		name := fmt.Sprintf("%s-%d", mc.Name, n)
		mc.Status.Slots = append(mc.Status.Slots, cachev1.SlotStatus{
			Name: name, Address: name + "." + mc.Name + "-slots.team.svc:11211", Pod: mc.Name + "-5d9c7b6f4-abcde",
			State: cachev1.SlotServing, Since: new(cachetest.Ago(time.Hour)),
		})
		mc.Status.Nodes = append(mc.Status.Nodes, mc.Name+"-5d9c7b6f4-abcde")
	}
	mc.Annotations = map[string]string{"managed": strings.Repeat("f", 8<<10)}
	return *mc
}

func TestAFleetOfAThousandCachesIsOneListOfFewBytes(t *testing.T) {
	f := &fleet{}
	for number := range 1000 {
		f.items = append(f.items, large(number))
	}
	began := time.Now()
	out, err := run(t, f, "status", "-A")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, %d KiB, %s", f.requests, f.bytes>>10, time.Since(began))
	if lines := strings.Count(out, "\n"); lines != 1001 {
		t.Errorf("%d lines", lines)
	}
	const most = 20 << 20
	if f.requests != 2 || f.bytes > most {
		t.Errorf("%d requests and %d bytes, more than 2 pages of one list and %d", f.requests, f.bytes, most)
	}
}

func TestAWrongArgumentIsRefusedWithTheFix(t *testing.T) {
	for arguments, want := range map[string]string{
		"status a b":             `["a" "b"] are more names than one: name one Memcached`,
		"status a -A":            "leave one of the two out",
		"status -o xml":          `invalid argument "xml" for "-o, --output" flag: write one of json, yaml, wide`,
		"why":                    "NAME is missing",
		"why a -o wide":          `invalid argument "wide" for "-o, --output" flag: write one of json, yaml`,
		"owner --base64 a":       `KEY "a" is not in base64, which --base64 requires`,
		"get a --base64":         `KEY "a" is not in base64, which --base64 requires`,
		"why team/a":             `"team/a" is no name: write a -n team`,
		"status memcached/a":     `"memcached/a" is no name: write a alone`,
		"status --colour":        "unknown flag: --colour: see kubectl memcached status --help",
		"diff":                   "--filename is missing",
		"diff -f /does/not":      "does not exist",
		"owner":                  "KEY is missing",
		"owner a":                "the namespace has 2 Memcacheds: name one",
		"pause":                  "NAME is missing",
		"pause a --dry-run=ever": `--dry-run "ever" is unknown: write none or server`,
		"restart a b":            "are more names than one",
		"restart a":              `namespace team has no Memcached "a"`,
	} {
		f := &fleet{items: []cachev1.Memcached{large(1), large(2)}}
		_, err := run(t, f, append(strings.Fields(arguments), "-n", "team")...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", arguments, err, want)
		}
	}
}

func TestThePageHasTheOutputOfTheGoldenFiles(t *testing.T) {
	text := page.Read(t, "../../../../docs/kubectl-memcached.md")
	for _, golden := range []string{
		"screen/testdata/slots-move.txt", "screen/testdata/fleet.txt", "screen/testdata/load.txt",
		"screen/testdata/slabs.txt", "screen/testdata/sizes.txt", "screen/testdata/hot-keys.txt",
		"screen/testdata/flush.txt", "screen/testdata/estimate.txt",
		"cause/testdata/PodsNotReady.txt", "cause/testdata/other/cold-slots.txt",
		"change/testdata/memory-with-slots.txt", "migrate/testdata/release.txt",
	} {
		if !strings.Contains(text, "```\n"+page.Read(t, "../"+golden)+"```\n") {
			t.Errorf("copy %s to docs/kubectl-memcached.md", golden)
		}
	}
}

func TestAKeyOfANamespaceWithoutCachesNamesTheNamespace(t *testing.T) {
	for _, command := range []string{"owner", "get"} {
		_, err := run(t, &fleet{}, command, "key", "-n", "nope")
		want := `namespace "nope" has no Memcached: choose another one by --namespace`
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
}

func TestAClusterWithoutTheCRDIsNamed(t *testing.T) {
	for _, arguments := range [][]string{{"status", "-A"}, {"status", "shop"}, {"pause", "shop"}} {
		f := &fleet{withoutCRD: true}
		_, err := run(t, f, arguments...)
		want := "the cluster does not have the CRD memcacheds.cache.example.com: install the operator, or choose another cluster by --context"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", arguments, err, want)
		}
	}
}

func TestAnAPIServerThatDoesNotAnswerIsWaitedForAsLongAsTheFlagSays(t *testing.T) {
	for _, arguments := range []string{"top shop", "get key", "report shop -o -", "flush shop"} {
		t.Run(arguments, func(t *testing.T) { waitsForMute(t, strings.Fields(arguments)...) })
	}
}

func waitsForMute(t *testing.T, arguments ...string) {
	t.Helper()
	began := time.Now()
	_, err := run(t, &fleet{mute: true}, append(arguments, "-n", "team", "--timeout=100ms")...)
	if want := "the API server does not answer in time"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestManifestsOfAnotherNamespaceThanThatOfTheFlagAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	manifest := "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: shop, namespace: team}\n"
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, &fleet{}, "diff", "-f", file, "-n", "other")
	if want := "--namespace other is not that of Memcached team/shop of the manifest"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAnEmptyNamespaceIsNoError(t *testing.T) {
	out, err := run(t, &fleet{}, "status", "-n", "team")
	if err != nil || out != "No Memcacheds found in namespace team: choose another namespace by -n, or show all namespaces by -A.\n" {
		t.Errorf("got %q, %v", out, err)
	}
	if out, err = run(t, &fleet{}, "status", "-A"); err != nil || out != "No Memcacheds found.\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
