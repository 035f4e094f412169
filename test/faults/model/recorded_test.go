package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// recorded builds a small history. Each entry happens a second after the one before.
type recorded struct {
	*history.History

	t       *testing.T
	now     time.Time
	process string
	known   map[string]bool // uids of objects that exist
}

const operatorUser = "operator"

func newHistory(t *testing.T) *recorded {
	t.Helper()
	story := &recorded{
		History: &history.History{Namespace: "n", Operator: operatorUser},
		t:       t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), known: map[string]bool{},
	}
	return story.restart()
}

// restart makes the next entries of the operator come from a new process.
func (s *recorded) restart() *recorded {
	s.now = s.now.Add(time.Second)
	s.process = s.now.Format(time.RFC3339Nano)
	return s
}

func (s *recorded) add(e history.Entry) *recorded {
	s.now = s.now.Add(time.Second)
	e.Time = s.now
	s.Entries = append(s.Entries, e)
	return s
}

// atTheSameTime makes the next entry happen at the same time as the last one.
func (s *recorded) atTheSameTime() *recorded {
	s.now = s.now.Add(-time.Second)
	return s
}

// step adds a step or a phase.
func (s *recorded) step(text string) *recorded { return s.add(history.Entry{Step: text}) }

// delay adds an entry which says that something held up the operator until now.
func (s *recorded) delay(d time.Duration) *recorded {
	return s.add(history.Entry{Delay: &history.Delay{Began: s.now.Add(-d), Ended: s.now, What: "a fault"}})
}

// user makes another client write objects, in YAML.
func (s *recorded) user(objects ...string) *recorded { return s.by("user", objects...) }

// by makes a client write objects.
func (s *recorded) by(user string, objects ...string) *recorded {
	for _, o := range objects {
		s.write(request{user: user, verb: "update"}, o)
	}
	return s
}

// operator makes the operator apply objects. The body of the request is the object.
func (s *recorded) operator(objects ...string) *recorded {
	for _, o := range objects {
		s.write(request{user: operatorUser, verb: "patch", uri: "?fieldManager=memcached-operator&force=true"}, o)
	}
	return s
}

// stores makes an admission policy change the last object before it is stored.
func (s *recorded) stores(text string) *recorded {
	s.Entries[len(s.Entries)-1].State.Object = parsed(s.t, text)
	return s
}

// pauses makes the operator apply an object as the field manager for paused Deployments.
func (s *recorded) pauses(o string) *recorded {
	return s.write(request{user: operatorUser, verb: "patch", uri: "?fieldManager=memcached-operator-pause&force=true"}, o)
}

// reports makes the operator write a Memcached's status.
func (s *recorded) reports(o string) *recorded {
	return s.write(request{user: operatorUser, verb: "patch", subresource: "status"}, o)
}

// deletes makes a client delete an object.
func (s *recorded) deletes(user, o string) *recorded {
	return s.write(request{user: user, verb: "delete"}, o)
}

// request adds a request of the operator that stored nothing.
func (s *recorded) request(verb, resource string, code int) *recorded {
	return s.requestOf(verb, resource, "", code)
}

// requestOf does the same as request, with the name of the object.
func (s *recorded) requestOf(verb, resource, name string, code int) *recorded {
	q := request{user: operatorUser, verb: verb}.audit(s.process)
	q.ObjectRef.Name = name
	q.ObjectRef.Resource, q.ObjectRef.Subresource, _ = strings.Cut(resource, "/")
	q.Response.Code = code
	return s.add(history.Entry{Request: q})
}

type request struct{ user, verb, uri, subresource string }

func (r request) audit(process string) *audit.Request {
	q := &audit.Request{Verb: r.verb, URI: r.uri, UserAgent: "client"}
	if r.user == operatorUser {
		q.UserAgent += proxy.Mark + process
	}
	q.User.Username, q.ObjectRef.Subresource, q.Response.Code = r.user, r.subresource, 200
	q.ObjectRef.Namespace = "n"
	return q
}

var resourceOf = map[string]string{
	"Memcached": "memcacheds", "Deployment": "deployments", "ReplicaSet": "replicasets", "Pod": "pods", "Secret": "secrets",
	"Service": "services", "NetworkPolicy": "networkpolicies", "PodDisruptionBudget": "poddisruptionbudgets",
	"EndpointSlice": "endpointslices",
}

func (s *recorded) write(r request, text string) *recorded {
	o := parsed(s.t, text)
	q := r.audit(s.process)
	q.ObjectRef.Resource, q.ObjectRef.Name = resourceOf[o.GetKind()], o.GetName()
	q.Body, _ = json.Marshal(o)
	uid, event := string(o.GetUID()), watch.Modified
	switch {
	case r.verb == "delete":
		event = watch.Deleted
		delete(s.known, uid)
	case !s.known[uid]:
		event, s.known[uid] = watch.Added, true
	}
	o.SetResourceVersion(strconv.Itoa(len(s.Entries) + 1))
	return s.add(history.Entry{State: &history.State{Type: event, Object: o, By: q}})
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(content, &o.Object); err != nil {
		t.Fatal(err)
	}
	integers(o.Object)
	o.SetNamespace("n")
	return o
}

// mc is the Memcached with the name a and the uid m.
func mc(fields string) string {
	return "{kind: Memcached, apiVersion: cache.example.com/v1, metadata: {name: a, uid: m, generation: 1}, " + fields + "}"
}

// owned is an object of this kind that Memcached a (uid m) owns. The object has the name a, and its kind is also its
// uid.
func owned(kind, fields string) string { return ownedBy("m", kind, fields) }

func ownedBy(uid, kind, fields string) string {
	return fmt.Sprintf("{kind: %s, metadata: {name: a, uid: %s, ownerReferences: [{kind: Memcached, name: a, uid: %s, "+
		"controller: true}]}, %s}", kind, kind, uid, fields)
}

// loose is an object of a kind with some metadata, without an owner.
func loose(kind, metadata string) string {
	return fmt.Sprintf("{kind: %s, metadata: {name: a, uid: %s, %s}}", kind, kind, metadata)
}

// ruleTest has histories that keep a rule, and histories that violate it.
type ruleTest struct {
	rule   string
	keeps  map[string]func(*recorded)
	breaks map[string]func(*recorded)
}

func (tc ruleTest) run(t *testing.T) {
	t.Helper()
	var rules []Rule
	for _, rule := range Rules() {
		if rule.Name == tc.rule {
			rules = append(rules, rule)
		}
	}
	if len(rules) != 1 {
		t.Fatalf("there are %d rules %q", len(rules), tc.rule)
	}
	for name, write := range tc.keeps {
		t.Run(name, func(t *testing.T) {
			story := newHistory(t)
			write(story)
			for _, violation := range Check(story.History, rules) {
				t.Errorf("a history that keeps the rule breaks it: %s", Explain(story.History, violation, 20))
			}
		})
	}
	for name, write := range tc.breaks {
		t.Run(name, func(t *testing.T) {
			story := newHistory(t)
			write(story)
			violations := Check(story.History, rules)
			if len(violations) != 1 || violations[0].Entry != len(story.Entries)-1 {
				t.Errorf("violations of a history whose last entry breaks the rule: %+v", violations)
			}
		})
	}
}
