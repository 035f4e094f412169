package plan

// The record of what the Pods are made from.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Record is what the Pods are made from. An annotation of the Deployment and the status of the Memcached store the
// record, so that the operator renders the same Pods after a restart or an upgrade.
type Record struct {
	Inputs

	// Template is the hash of the rendered Pod template. A spec that renders another template replaces the Pods.
	// It is empty in a record that was recovered from the Deployment.
	Template string `json:"template,omitempty"`

	// Requested is the last applied value of cachev1.AnnotationUpdateRequested or, if the value is long, its hash.
	Requested string `json:"updateRequested,omitempty"`
}

// sumField is the field with the checksum of an encoded record. A wrong checksum shows that another client edited the
// record.
const sumField = "sum"

// sealed is a record with its checksum. Its fields are in the order of their names in JSON.
type sealed struct {
	Inputs
	Sum       string `json:"sum,omitempty"`
	Template  string `json:"template,omitempty"`
	Requested string `json:"updateRequested,omitempty"`
}

// Encode returns the record as JSON; equal records have equal JSON.
func (r Record) Encode() string {
	fields := sealed{Inputs: r.Inputs, Template: r.Template, Requested: r.Requested}
	fields.Sum = shortHash(mustEncode(fields))
	return string(mustEncode(fields))
}

// decodeRecord reads an encoded record, and rejects one that no operator wrote or that was edited.
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

// sum returns the checksum of all fields, including fields that only a newer operator knows.
func sum(fields map[string]any) string {
	return shortHash(mustEncode(fields))
}

func mustEncode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // Everything encoded here came from JSON.
	}
	return content
}

func shortHash(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:8])
}

var recordPath = fieldpath.MakePathOrDie("metadata", "annotations", names.AnnotationTemplateInputs)

// recorded returns what the Pods of a Memcached are made from. Both the status and an annotation of the Deployment
// store the record; the annotation is newer if the operator ended between the two writes. The annotation counts only if
// the operator owns it. If neither has a valid record, the record is recovered from the Pod template.
func recorded(mc *cachev1.Memcached, live *appsv1.Deployment, now Record) (Record, bool) {
	inStatus, ok := decodeRecord(mc.Status.TemplateInputs)
	if live == nil {
		return inStatus, ok
	}
	annotation := live.Annotations[names.AnnotationTemplateInputs]
	if (!ok || annotation != mc.Status.TemplateInputs) && drift.Owns(live, recordPath) {
		if record, written := decodeRecord(annotation); written {
			return record, true
		}
	}
	if ok {
		return inStatus, true
	}
	inputs, ok := recovered(mc.Spec, live, now.Inputs)
	return Record{Inputs: inputs, Requested: now.Requested}, ok
}

// Recorded returns what the Pods of a Memcached are made from, for a client that does not know the operator's defaults.
func Recorded(mc *cachev1.Memcached, live *appsv1.Deployment) (Record, bool) {
	return recorded(mc, live, Record{})
}

// IsRecorded reports whether the status and the annotation of the Deployment have the same record. If not, the managed
// fields of the Deployment decide which record counts.
func IsRecorded(mc *cachev1.Memcached, live *appsv1.Deployment) bool {
	if live == nil {
		return true
	}
	_, ok := decodeRecord(mc.Status.TemplateInputs)
	return ok && live.Annotations[names.AnnotationTemplateInputs] == mc.Status.TemplateInputs
}

// longestRequest is the longest value of cachev1.AnnotationUpdateRequested that is recorded as it is, in bytes: a
// Deployment's annotations may have 256 KiB in all.
const longestRequest = 128

// requested returns what to record of cachev1.AnnotationUpdateRequested: the value or, if it is long, its hash.
func requested(mc *cachev1.Memcached) string {
	value := mc.Annotations[cachev1.AnnotationUpdateRequested]
	if len(value) <= longestRequest {
		return value
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(value)))
}
