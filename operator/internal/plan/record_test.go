package plan

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

var anyRecord = Record{
	Inputs:   Inputs{Revision: 1, Image: "memcached:1", Architectures: []string{"arm64"}, Platform: Kubernetes},
	Template: "0123456789abcdef", Requested: "monday",
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	text := anyRecord.Encode()
	got, ok := decodeRecord(text)
	if diff := cmp.Diff(anyRecord, got); !ok || diff != "" {
		t.Errorf("read: %v, (-want +got):\n%s", ok, diff)
	}
	if got.Encode() != text {
		t.Errorf("written again as %s, first as %s", got.Encode(), text)
	}
}

func TestARecordOfANewerOperatorIsRead(t *testing.T) {
	fields := map[string]any{"revision": 7, "platform": "Kubernetes", "kernel": map[string]any{"image": "a"}}
	fields[sumField] = sum(map[string]any{"revision": 7.0, "platform": "Kubernetes", "kernel": fields["kernel"]})
	if got, ok := decodeRecord(string(mustEncode(fields))); !ok || got.Revision != 7 {
		t.Errorf("read as %+v, %v", got, ok)
	}
}

func TestWhatIsNoRecordIsNotTakenForOne(t *testing.T) {
	text := anyRecord.Encode()
	without := func(field string) string {
		r := anyRecord
		switch field {
		case "revision":
			r.Revision = 0
		case "platform":
			r.Platform = "Mesos"
		}
		return r.Encode()
	}
	for name, text := range map[string]string{
		"nothing":                      "",
		"no JSON":                      "memcached:1",
		"no object":                    `["memcached:1"]`,
		"an empty object":              `{}`,
		"a value changed by hand":      strings.Replace(text, "memcached:1", "memcached:2", 1),
		"a sum changed by hand":        strings.Replace(text, `"sum":"`, `"sum":"0`, 1),
		"cut off":                      text[:len(text)-2],
		"a revision that is no number": strings.Replace(text, `"revision":1`, `"revision":"1"`, 1),
		"no revision":                  without("revision"),
		"an unheard-of platform":       without("platform"),
	} {
		if got, ok := decodeRecord(text); ok {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
}

// FuzzAnyRecordGivesAPlan: whatever another client writes into the annotation, the Pods have a template.
func FuzzAnyRecordGivesAPlan(f *testing.F) {
	f.Add("", false, "")
	f.Add(anyRecord.Encode(), true, "")
	f.Add(`{"revision":-1,"platform":"OpenShift","spec":"x","sum":"y"}`, true, "memcached:1")
	f.Add(`{"revision":1e99,"image":null,"architectures":[null],"sum":{}}`, true, "")
	f.Fuzz(func(t *testing.T, text string, resealed bool, image string) {
		mc := memcachedWith(cachev1.MemcachedSpec{Image: image})
		live := deployedBy(t, memcachedWith(cachev1.MemcachedSpec{}), defaults)
		if resealed {
			text = reseal(text)
		}
		live.Annotations[names.AnnotationTemplateInputs], mc.Status.TemplateInputs = text, text
		p, err := computed(mc, currently(live), newer)
		if _, invalid := errors.AsType[refused](err); invalid {
			return
		}
		if p.Image == "" || !slices.Contains(newer.Revisions, p.Record.Revision) {
			t.Fatalf("image %q, revision %d: %v", p.Image, p.Record.Revision, err)
		}
		if again, ok := decodeRecord(p.Record.Encode()); !ok || again.Encode() != p.Record.Encode() {
			t.Fatalf("a record that can't be read back: %s", p.Record.Encode())
		}
	})
}

// reseal corrects the checksum, so that tests reach the other errors, too.
func reseal(text string) string {
	fields := map[string]any{}
	if json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	delete(fields, sumField)
	fields[sumField] = sum(fields)
	return string(mustEncode(fields))
}
