package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Record is what the Deployment carries, as an annotation, so that the next operator makes the Pods of the same.
type Record struct {
	Inputs

	// Spec is the hash of the part of the spec that the Pods depend on.
	Spec string `json:"spec"`

	// Requested is the value of cachev1.AnnotationUpdateRequested that was honoured last.
	Requested string `json:"updateRequested,omitempty"`
}

// sumField is the field of an encoded record that tells whether somebody changed another one by hand.
const sumField = "sum"

// Encode returns the text of the annotation: JSON, the same for the same record.
func (r Record) Encode() string {
	content, err := json.Marshal(r)
	if err != nil {
		panic(err) // Strings and numbers.
	}
	fields := map[string]any{}
	if err := json.Unmarshal(content, &fields); err != nil {
		panic(err) // It was just encoded.
	}
	fields[sumField] = sum(fields)
	return string(mustEncode(fields))
}

// decodeRecord reads the annotation. What was not written by an operator, or was changed since, is no record.
func decodeRecord(text string) (Record, bool) {
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return Record{}, false
	}
	found := fields[sumField]
	delete(fields, sumField)
	record := Record{}
	if found != sum(fields) || json.Unmarshal([]byte(text), &record) != nil {
		return Record{}, false
	}
	known := record.Platform == Kubernetes || record.Platform == OpenShift
	return record, known && record.Revision > 0 && record.Spec != ""
}

// sum is over all fields, also those that only a newer operator knows.
func sum(fields map[string]any) string {
	return shortHash(mustEncode(fields))
}

// specHash covers each field that the Pods depend on, and each that is yet to come: what is left out here is known not
// to replace a node. Optional fields that are not set do not change it.
func specHash(spec cachev1.MemcachedSpec) string {
	spec.Size, spec.Suspend, spec.UpdatePolicy = nil, false, ""
	spec.Disruption, spec.Metadata, spec.Service, spec.NetworkPolicy = nil, nil, nil, nil
	spec.Rollout = drain(spec.Rollout)
	return shortHash(mustEncode(spec))
}

// drain is the part of a rollout that the Pods depend on.
func drain(rollout *cachev1.Rollout) *cachev1.Rollout {
	if rollout == nil || rollout.DrainSeconds == nil {
		return nil
	}
	return &cachev1.Rollout{DrainSeconds: rollout.DrainSeconds}
}

func mustEncode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // All that is encoded here was read from JSON.
	}
	return content
}

func shortHash(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:8])
}

// isWhole tells whether a record holds all that the spec leaves open.
func (r Record) isWhole(spec cachev1.MemcachedSpec) bool {
	return (spec.Image != "" || r.Image != "") && (!needsAgent(spec) || r.Agent != "")
}

// recordOf returns what the Pods of a Deployment are made of. Where the annotation does not tell, the Pod template
// does, as far as the spec leaves it open.
func recordOf(spec cachev1.MemcachedSpec, live *appsv1.Deployment, now Record) (Record, bool) {
	if live == nil {
		return Record{}, false
	}
	record, ok := decodeRecord(live.Annotations[names.AnnotationTemplateInputs])
	if ok && (record.isWhole(spec) || record.Spec != now.Spec) {
		return record, true
	}
	record = now
	record.Inputs, ok = recovered(spec, live.Spec.Template, now.Inputs)
	return record, ok && record.Platform != ""
}
