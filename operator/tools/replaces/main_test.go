package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatBecomesOfPods(t *testing.T) {
	const old, newer = `{"image":"memcached:1","agent":"agent:1"}`, `{"image":"memcached:2","agent":"agent:2"}`
	tests := map[string]struct{ before, after, from, to, pods, why string }{
		"a new cache gets Pods":                       {"null", `{"spec":{}}`, old, old, "created", ""},
		"one that is removed loses them":              {`{"spec":{}}`, "null", old, old, "deleted", "removed"},
		"another size replaces none":                  {`{"spec":{"size":1}}`, `{"spec":{"size":3}}`, old, old, "kept", ""},
		"a default that is written out replaces none": {`{"spec":{}}`, `{"spec":{"memory":"64Mi","image":"memcached:1"}}`, old, old, "kept", ""},
		"other labels of the Service replace none":    {`{"spec":{}}`, `{"spec":{"metadata":{"labels":{"a":"b"}}}}`, old, old, "kept", ""},
		"more memory replaces them":                   {`{"spec":{}}`, `{"spec":{"memory":"1Gi"}}`, old, old, "replaced", "its changed spec"},
		"an upgrade replaces none":                    {`{"spec":{}}`, `{"spec":{}}`, old, newer, "kept", "pending: image memcached:1 -> memcached:2"},
		"nor with another size":                       {`{"spec":{"size":1}}`, `{"spec":{"size":2}}`, old, newer, "kept", "pending"},
		"but with a change that does":                 {`{"spec":{}}`, `{"spec":{"memory":"1Gi"}}`, old, newer, "replaced", "its changed spec"},
		"and where updates are automatic":             {`{"spec":{"updatePolicy":"Automatic"}}`, `{"spec":{"updatePolicy":"Automatic"}}`, old, newer, "replaced", "Automatic"},
		"and where the update is requested":           {`{"spec":{}}`, `{"metadata":{"annotations":{"cache.example.com/update-requested":"now"}},"spec":{}}`, old, newer, "replaced", "update-requested"},
		"an image in its spec is never pending":       {`{"spec":{"image":"m:1"}}`, `{"spec":{"image":"m:1"}}`, old, newer, "kept", "pending: agent image agent:1 -> agent:2"},
		"a suspended cache keeps them":                {`{"spec":{}}`, `{"spec":{"suspend":true,"memory":"1Gi"}}`, old, old, "kept", "suspend"},
		"one whose spec is refused keeps them":        {`{"spec":{}}`, `{"spec":{"extraArgs":["--port=1"]}}`, old, old, "kept", "refuses its spec"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := `[{"before":` + tc.before + `,"after":` + tc.after + `,"from":` + tc.from + `,"to":` + tc.to + `}]`
			var out bytes.Buffer
			if err := run(strings.NewReader(in), &out); err != nil {
				t.Fatal(err)
			}
			var got []verdict
			if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got) != 1 {
				t.Fatalf("%v: %s", err, &out)
			}
			if diff := cmp.Diff(tc.pods, got[0].Pods); diff != "" || !strings.Contains(got[0].Why, tc.why) || (tc.why == "") != (got[0].Why == "") {
				t.Errorf("%s, because %q (-want +got):\n%s", got[0].Pods, got[0].Why, diff)
			}
		})
	}
	if err := run(strings.NewReader("x"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no JSON list") {
		t.Error(err)
	}
}
