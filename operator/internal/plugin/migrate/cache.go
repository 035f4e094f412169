// Package migrate writes a Memcached for a cache of Amazon ElastiCache or Google Memorystore, or of a Helm chart. It is
// pure.
package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Options are the settings that the descriptions of caches do not have.
type Options struct {
	// Namespace is the namespace of the Memcached. If it is empty, a Memcached for a release gets the namespace of the
	// release, and one for a cloud service gets none.
	Namespace string

	// Memory is the memory of one server; nil means the memory in the description.
	Memory *resource.Quantity

	// Chart is the name of the chart that values are for; empty means that it is guessed from the values.
	Chart string

	Release, ReleaseNamespace string
	ClientHash                cachev1.ClientHash
}

// Translate returns the manifests of all described caches, and a report about each setting that was not translated,
// with what to do about it.
func Translate(content []byte, o Options) (manifests string, reports []string, err error) {
	caches, err := read(content, o)
	if err != nil {
		return "", nil, err
	}
	var documents []string
	for _, cache := range caches {
		document, err := cache.manifest()
		if err != nil {
			return "", nil, err
		}
		documents = append(documents, document)
		for _, report := range cache.reports {
			reports = append(reports, cache.name+": "+report)
		}
	}
	return strings.Join(documents, "---\n"), reports, nil
}

// cache is a described cache, as a Memcached.
type cache struct {
	name, namespace string
	spec            cachev1.MemcachedSpec
	comment         string   // at the end of the manifest
	reports         []string // about settings that were not translated, with what to do
}

// Reports for caches of both cloud services.
const (
	image       = "the image is the operator's default; spec.image sets another one, from 1.6.40 on with slots"
	cpu         = "spec.resources reserves CPU; if it reserves more than 4 CPUs, spec.threads defaults to their number"
	clients     = "the NetworkPolicy allows all clients; limit them by spec.networkPolicy.from"
	maintenance = "there is none; Pods are replaced when the spec changes"
)

// newCache returns a cache with the settings that each cache gets. Clients of both services learn the servers with auto
// discovery. Slots with cluster IPs work for all clients, including those that hash addresses or resolve names only
// once.
func newCache(name string, size int32, memory resource.Quantity, o Options) *cache {
	c := &cache{name: name, namespace: o.Namespace, spec: cachev1.MemcachedSpec{
		Size: &size, Memory: &memory,
		Slots:     &cachev1.Slots{Mode: cachev1.SlotsClusterIP, ClientHash: o.ClientHash},
		Discovery: &cachev1.Discovery{},
	}}
	if o.ClientHash == "" {
		c.report("slots.mode is ClusterIP, which suits all clients; set slots.clientHash yourself: docs/slots.md lists " +
			"both for each client")
	}
	return c
}

func (c *cache) report(format string, args ...any) {
	c.reports = append(c.reports, fmt.Sprintf(format, args...))
}

// reportPort reports a port that differs from the Memcached's, for clients whose configuration has the port.
func (c *cache) reportPort(port int) {
	if port != 0 && port != 11211 {
		c.report("port %d: a Memcached has 11211, and 11212 with TLS", port)
	}
}

// spread distributes the servers over zones, if the described cache has several zones.
func (c *cache) spread(zones map[string]bool) {
	if len(zones) > 1 {
		c.spec.Placement = &cachev1.Placement{Zones: cachev1.SpreadPreferred}
	}
}

func (c *cache) manifest() (string, error) {
	if problems := validation.IsDNS1035Label(c.name); len(problems) > 0 {
		return "", fmt.Errorf("the name %q of the cache cannot be that of a Memcached: %s",
			c.name, strings.Join(problems, "; "))
	}
	content, err := yaml.Marshal(cachev1.Memcached{
		TypeMeta:   metav1.TypeMeta{APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached"},
		ObjectMeta: metav1.ObjectMeta{Name: c.name, Namespace: c.namespace},
		Spec:       c.spec,
	})
	return strings.Replace(string(content), "  slots:\n", "  slots:\n"+c.hashComment(), 1) + c.comment, err
}

// hashComment returns a comment for the place where the user has to write the client hash, which no description has.
func (c *cache) hashComment() string {
	if c.spec.Slots.ClientHash != "" {
		return ""
	}
	return "    # clientHash: Ketama # or CRC32Modulo, JumpSorted, Rendezvous: docs/slots.md has that of each client\n"
}

// read recognizes a description by its fields: clusters of ElastiCache, one or several instances of Memorystore, or
// values of a chart.
func read(content []byte, o Options) ([]*cache, error) {
	var clusters struct{ CacheClusters []cluster }
	if json.Unmarshal(content, &clusters) == nil && clusters.CacheClusters != nil {
		return readClusters(clusters.CacheClusters, o)
	}
	var given map[string]any
	if unmarshal(content, &given) == nil && (o.Chart != "" || o.Release != "" || guess(given) != "") {
		c, err := readRelease(given, o)
		return []*cache{c}, err
	}
	if trimmed := bytes.TrimSpace(content); !bytes.HasPrefix(trimmed, []byte("[")) {
		content = fmt.Appendf(nil, "[%s]", trimmed)
	}
	var instances []instance
	if err := json.Unmarshal(content, &instances); err != nil {
		return nil, fmt.Errorf("the input is no JSON of aws or gcloud: %w; for helm get values, give --chart", err)
	}
	if len(instances) == 0 {
		return nil, errors.New("the input is empty: see whether the command that makes it fails; kubectl memcached import " +
			"--help has examples")
	}
	var caches []*cache
	for _, instance := range instances {
		if instance.NodeCount == 0 {
			return nil, errors.New("the input has neither CacheClusters, as of aws elasticache describe-cache-clusters, " +
				"nor nodeCount, as of gcloud memcache instances describe; for helm get values, give --chart")
		}
		c, err := instance.cache(o)
		if err != nil {
			return nil, err
		}
		caches = append(caches, c)
	}
	return caches, nil
}
