package migrate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// commandLine is some arguments of memcached, and the path of the value that they come from.
type commandLine struct {
	path  string
	words []string
}

// argument is an option of memcached with its value, which is true for an option without a value.
type argument struct {
	path, letter, value string
}

// option is one of memcached's options (memcached.c, main).
type option struct {
	letter, name string
	takesValue   bool

	// set translates the option. If set is nil, the option becomes one of spec.extraArgs.
	set func(*release, argument)
}

// memcachedOptions are the options of memcached. The operator refuses options in spec.extraArgs that it sets itself:
// docs/memcached/server.md#extraargs.
var memcachedOptions = []option{
	{"m", "memory-limit", true, bounded(16, 4<<20, func(spec *cachev1.MemcachedSpec, mebibytes int64) {
		spec.Memory = resource.NewQuantity(mebibytes*mebibyte, resource.BinarySI)
	})},
	{"c", "conn-limit", true, bounded(16, 200000, func(spec *cachev1.MemcachedSpec, connections int64) {
		spec.MaxConnections = new(int32(connections))
	})},
	{"t", "threads", true, bounded(1, 64, func(spec *cachev1.MemcachedSpec, threads int64) {
		spec.Threads = new(int32(threads))
	})},
	{"I", "max-item-size", true, (*release).setItemSize},
	{"o", "extended", true, (*release).setExtended},
	{"p", "port", true, unless("11211", "a Memcached has port 11211, and 11212 with TLS")},
	{"U", "udp-port", true, unless("0", "there is no UDP")},
	{"l", "listen", true, unless("0.0.0.0 :: 0.0.0.0,::", "the operator sets where memcached listens")},
	{"B", "protocol", true, unless("auto ascii", "both protocols are served; clients that log in need the text protocol")},
	{"u", "user", true, unless("memcached nobody root", "the Pods run as user 11211 or, on OpenShift, as a user that "+
		"OpenShift assigns")},
	{"X", "disable-dumping", false, (*release).reportDumping},
	{"W", "disable-watch", false, instead("not possible with slots, or if a cache copies the keys of this release")},
	{"F", "disable-flush-all", false, instead("not possible with slots, which need flush_all")},
	{"Z", "enable-ssl", false, instead("set spec.tls")},
	{"S", "enable-sasl", false, instead("SASL is a part of the binary protocol; set spec.auth, which is a login of " +
		"the text protocol")},
	{"Y", "auth-file", true, instead("set spec.auth, and write the same lines into the entry users of its Secret")},
	{"e", "memory-file", true, instead("there are no volumes; with slots, a new Pod copies the keys of the old one")},
	{"k", "lock-memory", false, instead("the restricted Pod Security Standard forbids it")},
	{"A", "enable-shutdown", false, instead("any client could stop memcached")},
	{"a", "unix-mask", true, instead("the operator sets where memcached listens")},
	{"s", "unix-socket", true, instead("the operator sets where memcached listens")},
	{"d", "daemon", false, instead("the kubelet runs memcached, in the foreground")},
	{"P", "pidfile", true, instead("the kubelet runs memcached, in the foreground")},
	{"r", "enable-coredumps", false, instead("the kubelet runs memcached, in the foreground")},
	{"M", "disable-evictions", false, nil}, {"v", "verbose", false, nil},
	{"f", "slab-growth-factor", true, nil}, {"n", "slab-min-size", true, nil},
	{"D", nameless, true, nil},
	{"L", "enable-largepages", false, nil}, {"R", "max-reqs-per-event", true, nil},
	{"C", "disable-cas", false, nil}, {"b", "listen-backlog", true, nil}, {"N", "napi-ids", true, nil},
}

// nameless is a name for the option that has only a letter in memcached.
const nameless = "stats-delimiter"

// extraArg returns an argument in the form for spec.extraArgs: one word, and readable.
func (o option) extraArg(a argument) string {
	switch {
	case o.name == nameless:
		return a.String()
	case o.takesValue:
		return "--" + o.name + "=" + a.value
	default:
		return "--" + o.name
	}
}

// setArguments translates arguments of memcached, as getopt reads them.
func (r *release) setArguments(from commandLine) {
	set := pflag.NewFlagSet("memcached", pflag.ContinueOnError)
	byName := map[string]option{}
	for _, o := range memcachedOptions {
		byName[o.name] = o
		set.StringP(o.name, o.letter, "", "")
		if !o.takesValue {
			set.Lookup(o.name).NoOptDefVal = "true"
		}
	}
	err := set.ParseAll(from.words, func(flag *pflag.Flag, value string) error {
		o := byName[flag.Name]
		a := argument{from.path, o.letter, strings.TrimSpace(value)}
		if o.set != nil {
			o.set(r, a)
		} else {
			r.spec.ExtraArgs = append(r.spec.ExtraArgs, o.extraArg(a))
		}
		return nil
	})
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("%q is no option", set.Arg(0))
	}
	if err != nil {
		r.report("%s [%s]: not understood (%v); compare it with the manifest", from.path, strings.Join(from.words, " "), err)
	}
}

// String is the argument as one word.
func (a argument) String() string {
	if a.value == "true" {
		return "-" + a.letter
	}
	return "-" + a.letter + a.value
}

func instead(advice string) func(*release, argument) {
	return func(r *release, a argument) { r.report("%s %s: %s", a.path, a, advice) }
}

// unless reports an option, except for the values in same, which change nothing.
func unless(same, advice string) func(*release, argument) {
	return func(r *release, a argument) {
		for value := range strings.FieldsSeq(same) {
			if a.value == value {
				return
			}
		}
		instead(advice)(r, a)
	}
}

// bounded sets a number, within the bounds of the field.
func bounded(least, most int64, set func(*cachev1.MemcachedSpec, int64)) func(*release, argument) {
	return func(r *release, a argument) {
		number, err := strconv.ParseInt(a.value, 10, 64)
		if err != nil {
			instead("not a number; correct it")(r, a)
			return
		}
		within := max(least, min(number, most))
		if within != number {
			instead(fmt.Sprintf("a Memcached has at least %d and at most %d, so it is %d", least, most, within))(r, a)
		}
		set(&r.spec, within)
	}
}

// setItemSize reads a number of bytes, or a number with the unit k or m. Memcached does not start if the size is no
// multiple of 512Ki.
func (r *release) setItemSize(a argument) {
	digits := strings.TrimRight(a.value, "kKmM")
	bytes, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || len(a.value)-len(digits) > 1 {
		instead("not a size; set spec.maxItemSize")(r, a)
		return
	}
	switch strings.ToLower(a.value[len(digits):]) {
	case "k":
		bytes <<= 10
	case "m":
		bytes <<= 20
	}
	const step = 512 << 10
	rounded := max(step, min((bytes+step-1)/step*step, 1<<30))
	r.spec.MaxItemSize = resource.NewQuantity(rounded, resource.BinarySI)
	if rounded != bytes {
		instead(fmt.Sprintf("maxItemSize is a multiple of 512Ki up to 1Gi, so it is %s", r.spec.MaxItemSize))(r, a)
	}
}

// reportDumping explains why the keys of the release can't be copied.
func (r *release) reportDumping(a argument) {
	without := "remove it from " + a.path
	if a.path == "memcached.disableDumping" {
		without = fmt.Sprintf("helm upgrade %s CHART --version VERSION -n %s --reuse-values --set %s=false",
			r.options.Release, r.options.ReleaseNamespace, a.path)
	}
	instead("memcached refuses to list its keys, so they cannot be copied until the release runs without it: "+without+
		". This replaces the Pods of the release, which start empty: copy the keys when these Pods are full again")(r, a)
}
