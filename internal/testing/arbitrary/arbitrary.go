// Package arbitrary makes objects from a fuzzer's bytes. They include all objects that users, other programs and the
// cluster may produce, and more. Only tests use this package.
package arbitrary

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Filler fills any object with values determined by the data.
func Filler(data []byte) *randfill.Filler {
	return randfill.NewFromGoFuzz(data).NilChance(0.4).NumElements(0, 3).MaxDepth(12).
		Funcs(text, number, pairs, quantity, percentage, timestamp, managedFields)
}

// Memcached returns an object with an arbitrary spec and status, and with the name that all fuzz targets use. In most
// objects, the fields of the spec that would rarely be valid by chance have valid values.
func Memcached(filler *randfill.Filler) *cachev1.Memcached {
	mc := &cachev1.Memcached{}
	filler.Fill(&mc.Spec)
	filler.Fill(&mc.Status)
	filler.Fill(&mc.Annotations)
	filler.Fill(&mc.Generation)
	mc.Name, mc.Namespace, mc.UID = "cache", "team", "uid-1"
	var anyhow uint8
	if filler.Fill(&anyhow); anyhow%4 != 0 {
		makePossible(filler, &mc.Spec)
	}
	keepToSchema(&mc.Spec)
	return mc
}

// keepToSchema enforces bounds that only the schema enforces.
func keepToSchema(spec *cachev1.MemcachedSpec) {
	within(spec.Size, 0, 1000)
	within(spec.MaxConnections, 16, 200000)
	within(spec.Threads, 1, 64)
	within(spec.TerminationDelaySeconds, 0, 600)
	if spec.Rollout != nil {
		within(spec.Rollout.MinReadySeconds, 0, 3600)
	}
	if spec.Binding != nil && spec.Binding.SecretName == "" {
		spec.Binding.SecretName = "binding"
	}
	spec.ImagePullSecrets = named(spec.ImagePullSecrets, func(s cachev1.LocalObjectReference) string { return s.Name })
	if spec.PodTemplate != nil && spec.PodTemplate.DNSConfig != nil {
		dns := spec.PodTemplate.DNSConfig
		dns.Options = named(dns.Options, func(o cachev1.DNSOption) string { return o.Name })
	}
}

// named returns the items, except those whose name is empty or the same as the name of an earlier item.
func named[T any](items []T, name func(T) string) []T {
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(items, func(item T) bool {
		known := seen[name(item)]
		seen[name(item)] = true
		return known
	})
}

func within(number *int32, least, most int32) {
	if number != nil {
		*number = max(least, min(*number, most))
	}
}

func makePossible(filler *randfill.Filler, spec *cachev1.MemcachedSpec) {
	var choice struct{ Image, Memory, Item uint8 }
	filler.Fill(&choice)
	images := []string{"", "memcached", "memcached:1.6", "localhost:5000/team/memcached:1.6.45-alpine"}
	spec.Image = images[int(choice.Image)%len(images)]
	memory := int64(16+int(choice.Memory)) << 20
	spec.Memory, spec.MaxItemSize = resource.NewQuantity(memory, resource.BinarySI), nil
	if half := int64(1) << 19; choice.Item > 0 {
		spec.MaxItemSize = resource.NewQuantity(min(int64(choice.Item)*half, memory/2/half*half), resource.BinarySI)
	}
}

// words are strings that have a meaning in some field.
var words = []string{
	"", "cache", "memcached", "app", "memcached_cr", "kubernetes.io/arch", "kubernetes.io/hostname", "amd64", "s390x",
	"-m", "--memory-limit=1", "-vv", "memory", "cpu", "25%", "memcached:1.6", "localhost:5000/m@sha256:1", "DoNotSchedule",
	"true", "False", "AllPodsReady", "RollingOut", "uid-1", "ü", "\n",
}

func text(s *string, c randfill.Continue) {
	if c.Bool() {
		*s = words[c.Intn(len(words))]
		return
	}
	*s = c.String(20)
}

// number fills in a number that is usually small.
func number(n *int32, c randfill.Continue) {
	if *n = c.Int31n(8); c.Intn(4) == 0 {
		*n = int32(c.Uint32())
	}
}

// pairs fills in labels, annotations or a selector, usually valid ones.
func pairs(m *map[string]string, c randfill.Continue) {
	keys := []string{"app", "memcached_cr", "team", "example.com/team", "kubernetes.io/arch", "cache.example.com/adopt-by"}
	*m = map[string]string{}
	for range c.Intn(4) {
		key, value := keys[c.Intn(len(keys))], "x"
		if c.Intn(16) == 0 {
			c.Fill(&key)
			c.Fill(&value)
		}
		(*m)[key] = value
	}
}

// quantity fills in a quantity as it is after it was parsed from text. Parsing may change the spelling of a quantity
// that was made from a number: 6000 with the format BinarySI becomes 6k.
func quantity(q *resource.Quantity, c randfill.Continue) {
	formats := []resource.Format{resource.BinarySI, resource.DecimalSI, resource.DecimalExponent}
	value := c.Int63() >> c.Intn(63)
	if c.Intn(8) == 0 {
		value = -value
	}
	made := resource.NewMilliQuantity(value, formats[c.Intn(len(formats))])
	if c.Bool() {
		made = resource.NewQuantity(value, made.Format)
	}
	*q = resource.MustParse(made.String())
}

func percentage(v *intstr.IntOrString, c randfill.Continue) {
	switch c.Intn(4) {
	case 0:
		*v = intstr.FromString(c.String(4))
	case 1:
		*v = intstr.FromString(fmt.Sprintf("%d%%", c.Intn(200)))
	default:
		*v = intstr.FromInt32(c.Int31n(10) - 1)
	}
}

func timestamp(t *metav1.Time, c randfill.Continue) {
	*t = metav1.NewTime(time.Unix(c.Int63n(1<<32), 0).UTC())
}

// managedFields leaves the field empty, because the operator's cache removes it from each object.
func managedFields(fields *[]metav1.ManagedFieldsEntry, _ randfill.Continue) {
	*fields = nil
}
