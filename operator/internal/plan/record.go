package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Record is what the Pods are made of. The Deployment carries it as an annotation, and the Memcached in its status, so
// that the next operator makes the Pods of the same.
type Record struct {
	Inputs

	// Template is the hash of the Pod template that was rendered. A spec that renders another one replaces the Pods. The
	// operator 0.1.0 did not record it.
	Template string `json:"template,omitempty"`

	// Requested is the value of cachev1.AnnotationUpdateRequested that was honoured last.
	Requested string `json:"updateRequested,omitempty"`
}

// sumField is the field of an encoded record that tells whether somebody changed another one by hand.
const sumField = "sum"

// Encode returns the record as JSON, the same for the same record.
func (r Record) Encode() string {
	fields := map[string]any{}
	if err := json.Unmarshal(mustEncode(r), &fields); err != nil {
		panic(err) // It was just encoded.
	}
	fields[sumField] = sum(fields)
	return string(mustEncode(fields))
}

// decodeRecord reads an encoded record. What was not written by an operator, or was changed since, is no record.
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
	return record, known && record.Revision > 0
}

// sum is over all fields, also those that only a newer operator knows.
func sum(fields map[string]any) string {
	return shortHash(mustEncode(fields))
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

var recordPath = fieldpath.MakePathOrDie("metadata", "annotations", names.AnnotationTemplateInputs)

// recorded returns what the Pods of a Memcached are made of. The status holds it, and the annotation of the Deployment:
// that is newer where the operator ended between the two writes. It counts only if the operator wrote it. Where both
// are lost, the Pod template tells.
func recorded(mc *cachev1.Memcached, live *appsv1.Deployment, now Record) (Record, bool) {
	if !IsRecorded(mc, live) && live != nil && drift.Owns(live, recordPath) {
		if record, ok := decodeRecord(live.Annotations[names.AnnotationTemplateInputs]); ok {
			return record, true
		}
	}
	if record, ok := decodeRecord(mc.Status.TemplateInputs); ok || live == nil {
		return record, ok
	}
	inputs, ok := recovered(mc.Spec, live, now.Inputs)
	return Record{Inputs: inputs, Requested: now.Requested}, ok
}

// IsRecorded tells whether the status and the annotation of the Deployment agree on what the Pods are made of. If not,
// the managed fields of the Deployment are needed to find out.
func IsRecorded(mc *cachev1.Memcached, live *appsv1.Deployment) bool {
	if live == nil {
		return true
	}
	_, ok := decodeRecord(mc.Status.TemplateInputs)
	return ok && live.Annotations[names.AnnotationTemplateInputs] == mc.Status.TemplateInputs
}
