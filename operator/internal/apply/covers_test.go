package apply

import (
	"encoding/json"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

func TestCovers(t *testing.T) {
	pod := func(spec string) string { return `{"spec":{"template":{"spec":` + spec + `}}}` }
	container := func(fields string) string { return pod(`{"containers":[{"name":"a",` + fields + `}]}`) }
	tests := map[string]struct {
		wanted, live    string
		covers, differs bool
	}{
		"what an object is does not count": {
			wanted: `{"kind":"Deployment","apiVersion":"apps/v1"}`, live: `{}`, covers: true,
		},
		"what an owner is counts": {
			wanted:  `{"metadata":{"ownerReferences":[{"uid":"a","kind":"A","name":"a","apiVersion":"v1"}]}}`,
			live:    `{"metadata":{"ownerReferences":[{"uid":"a","kind":"B","name":"a","apiVersion":"v1"}]}}`,
			differs: true,
		},
		"a field of another client": {
			wanted: `{"spec":{"replicas":1}}`, live: `{"spec":{"replicas":1,"paused":true}}`, covers: true,
		},
		"another number": {wanted: `{"spec":{"replicas":1}}`, live: `{"spec":{"replicas":2}}`, differs: true},
		"a zero":         {wanted: `{"spec":{"replicas":0}}`, live: `{"spec":{"replicas":0}}`, covers: true},
		"a zero that is stored as nothing": {
			wanted: `{"spec":{"minReadySeconds":0}}`, live: `{"spec":{"minReadySeconds":0}}`, differs: true,
		},
		"an empty struct": {wanted: pod(`{"securityContext":{}}`), live: pod(`{"securityContext":{}}`), covers: true},
		"an empty struct that is not there": {
			wanted: pod(`{"securityContext":{}}`), live: pod(`{}`), differs: true,
		},
		"an empty map that is not there": {
			wanted: container(`"resources":{"limits":{}}`), live: container(`"resources":{}`), differs: true,
		},
		"a label more": {
			wanted: `{"metadata":{"labels":{"a":"b"}}}`, live: `{"metadata":{"labels":{"a":"b","c":"d"}}}`, covers: true,
		},
		"a label less": {
			wanted: `{"metadata":{"labels":{"a":"b","c":"d"}}}`, live: `{"metadata":{"labels":{"a":"b"}}}`, differs: true,
		},
		"an entry more in a map that is one thing": {
			wanted: pod(`{"nodeSelector":{"a":"b"}}`), live: pod(`{"nodeSelector":{"a":"b","c":"d"}}`), differs: true,
		},
		"a field more in a struct that is one thing": {
			wanted:  `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`,
			live:    `{"spec":{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a"}]}}}`,
			differs: true,
		},
		"an entry more in a struct that is one thing": {
			wanted:  `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`,
			live:    `{"spec":{"selector":{"matchLabels":{"a":"b","c":"d"}}}}`,
			differs: true,
		},
		"a list that is one thing": {
			wanted: pod(`{"tolerations":[{"key":"a"}]}`), live: pod(`{"tolerations":[{"key":"a"}]}`), covers: true,
		},
		"an item more in a list that is one thing": {
			wanted: pod(`{"tolerations":[{"key":"a"}]}`), live: pod(`{"tolerations":[{"key":"a"},{"key":"b"}]}`), differs: true,
		},
		"an item with a field more in a list that is one thing": {
			wanted: pod(`{"tolerations":[{"key":"a"}]}`), live: pod(`{"tolerations":[{"key":"a","value":"b"}]}`), differs: true,
		},
		"another order of arguments": {
			wanted: container(`"args":["a","b"]`), live: container(`"args":["b","a"]`), differs: true,
		},
		"an item with a field more in a list by keys": {
			wanted: container(`"image":"i"`), live: container(`"image":"i","tty":true`), covers: true,
		},
		"another order in a list by keys is left to the library": {
			wanted: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`), live: pod(`{"containers":[{"name":"b"},{"name":"a"}]}`),
		},
		"an item more in a list by keys is left to the library": {
			wanted: pod(`{"containers":[{"name":"a"}]}`), live: pod(`{"containers":[{"name":"a"},{"name":"b"}]}`),
		},
		"a key left out, for which a default stands in": {
			wanted:  container(`"ports":[{"containerPort":1}]`),
			live:    container(`"ports":[{"containerPort":1,"protocol":"UDP"}]`),
			differs: true,
		},
		"a key of two is enough": {
			wanted: container(`"ports":[{"containerPort":1,"protocol":"TCP"},{"containerPort":1,"protocol":"UDP"}]`),
			live:   container(`"ports":[{"containerPort":1,"protocol":"TCP"},{"containerPort":1,"protocol":"UDP"}]`),
			covers: true,
		},
		"the same keys twice": {
			wanted:  container(`"ports":[{"containerPort":1},{"containerPort":1}]`),
			live:    container(`"ports":[{"containerPort":1},{"containerPort":1,"name":"a"}]`),
			differs: true,
		},
		"the same keys twice, once by default": {
			wanted:  container(`"ports":[{"containerPort":1},{"containerPort":1,"protocol":"TCP"}]`),
			live:    container(`"ports":[{"containerPort":1},{"containerPort":1,"protocol":"TCP","name":"a"}]`),
			differs: true,
		},
		"a set": {
			wanted: `{"metadata":{"finalizers":["a","b"]}}`, live: `{"metadata":{"finalizers":["a","b"]}}`, covers: true,
		},
		"another order in a set is left to the library": {
			wanted: `{"metadata":{"finalizers":["a","b"]}}`, live: `{"metadata":{"finalizers":["b","a"]}}`,
		},
		"a quantity in another spelling": {
			wanted: container(`"resources":{"limits":{"cpu":"0.5"}}`),
			live:   container(`"resources":{"limits":{"cpu":"500m"}}`),
			covers: true,
		},
		"a quantity in another format": {
			wanted:  container(`"resources":{"limits":{"memory":"1Ki"}}`),
			live:    container(`"resources":{"limits":{"memory":"1024"}}`),
			differs: true,
		},
		"a quantity that is not in a map": {
			wanted: pod(`{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1024Ki"}}]}`),
			live:   pod(`{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Mi"}}]}`),
			covers: true,
		},
		"a number that may be a percentage": {
			wanted: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":5}}}}`,
			live:   `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":5}}}}`,
			covers: true,
		},
		"a percentage instead of a number": {
			wanted:  `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":5}}}}`,
			live:    `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"5%"}}}}`,
			differs: true,
		},
		"a time is left to the library": {
			wanted: `{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}`,
			live:   `{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}`,
		},
		"an inlined struct": {
			wanted: container(`"livenessProbe":{"tcpSocket":{"port":1}}`),
			live:   container(`"livenessProbe":{"tcpSocket":{"port":1},"successThreshold":1}`),
			covers: true,
		},
		"a change in an inlined struct": {
			wanted:  container(`"livenessProbe":{"tcpSocket":{"port":1}}`),
			live:    container(`"livenessProbe":{"tcpSocket":{"port":2}}`),
			differs: true,
		},
	}
	kind := newSchemas(clientgoscheme.Scheme)[observe.DeploymentKind.GroupKind()]
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wanted, live := &appsv1ac.DeploymentApplyConfiguration{}, &appsv1.Deployment{}
			decode(t, tc.wanted, wanted)
			decode(t, tc.live, live)
			if got := kind.covers(wanted, live); got != tc.covers {
				t.Errorf("covers is %v, not %v", got, tc.covers)
			}
			changed, err := kind.differences(live, wanted)
			if err != nil || changed.Empty() == tc.differs {
				t.Errorf("the library finds %s, %v; differs should be %v", changed, err, tc.differs)
			}
		})
	}
}

// TestNothingIsNotEmpty tests JSON's null, which is the value of no rendered field.
func TestNothingIsNotEmpty(t *testing.T) {
	type maps struct {
		Labels map[string]string `json:"labels"`
	}
	type lists struct {
		Finalizers []string `json:"finalizers"`
	}
	kind := newSchemas(clientgoscheme.Scheme)[observe.DeploymentKind.GroupKind()]
	metadata := schema.TypeRef{NamedType: new("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")}
	for name, tc := range map[string]struct{ none, empty any }{
		"map":  {none: maps{}, empty: maps{Labels: map[string]string{}}},
		"list": {none: lists{}, empty: lists{Finalizers: []string{}}},
	} {
		t.Run(name, func(t *testing.T) {
			none, empty := reflect.ValueOf(tc.none), reflect.ValueOf(tc.empty)
			same := pair{schema: kind.Schema, ref: metadata, wanted: none.Type(), live: none.Type()}.check()
			if same(none, empty) || same(empty, none) || !same(empty, empty) {
				t.Error("nothing is taken for the same as what is empty, or what is empty for something else")
			}
		})
	}
}

// TestAListWithKeysMayBeOneThing tests schemas that are valid, but that client-go has for none of the managed kinds.
func TestAListWithKeysMayBeOneThing(t *testing.T) {
	type item struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	}
	for relationship, want := range map[schema.ElementRelationship]bool{schema.Associative: true, schema.Atomic: false} {
		text := schema.TypeRef{Inlined: schema.Atom{Scalar: new(schema.String)}}
		fields := &schema.Map{Fields: []schema.StructField{{Name: "name", Type: text}, {Name: "value", Type: text}}}
		list := schema.Atom{List: &schema.List{
			ElementType:         schema.TypeRef{Inlined: schema.Atom{Map: fields}},
			ElementRelationship: relationship, Keys: []string{"name"},
		}}
		wanted, live := []item{{Name: "a"}}, []item{{Name: "a", Value: "b"}}
		items := reflect.TypeOf(wanted)
		same := pair{schema: &schema.Schema{}, ref: schema.TypeRef{Inlined: list}, wanted: items, live: items}.check()
		if got := same(reflect.ValueOf(wanted), reflect.ValueOf(live)); got != want {
			t.Errorf("%s: %v, want %v", relationship, got, want)
		}
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
