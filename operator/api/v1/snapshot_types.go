package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MemcachedSnapshot saves the keys of a cache once, in a bucket or a volume (see docs/snapshots.md). If you delete a
// MemcachedSnapshot, its Job is deleted, but nothing in the bucket or the volume.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mcs
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cache",type=string,JSONPath=`.spec.memcachedRef.name`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Items",type=integer,JSONPath=`.status.items`
// +kubebuilder:printcolumn:name="Snapshot",type=string,JSONPath=`.status.snapshotName`
// +kubebuilder:printcolumn:name="Bytes",type=integer,JSONPath=`.status.bytes`,priority=1
// +kubebuilder:printcolumn:name="Stored",type=integer,JSONPath=`.status.storedBytes`,priority=1
// +kubebuilder:printcolumn:name="Completed",type=date,JSONPath=`.status.completionTime`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",messageExpression="'metadata.name \"' + self.metadata.name + '\" can not name a Job: use at most 63 lower-case letters, digits and hyphens'",message="metadata.name can not name a Job: use at most 63 lower-case letters, digits and hyphens"
type MemcachedSnapshot struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is what is saved, and where. It cannot change: for another snapshot, create another MemcachedSnapshot.
	// +required
	Spec MemcachedSnapshotSpec `json:"spec"`

	// status is the observed state of the snapshot, written by the operator.
	// +optional
	Status MemcachedSnapshotStatus `json:"status,omitempty,omitzero"`
}

// MemcachedSnapshotList is a list of MemcachedSnapshots.
//
// +kubebuilder:object:root=true
type MemcachedSnapshotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MemcachedSnapshot `json:"items"`
}

// MemcachedSnapshotSpec is what is saved, and where.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec cannot change, because each MemcachedSnapshot is one snapshot: create another MemcachedSnapshot"
type MemcachedSnapshotSpec struct {
	// memcachedRef is the cache whose keys are saved.
	// +required
	MemcachedRef MemcachedReference `json:"memcachedRef"`

	// to is where the snapshot is written.
	// +required
	To SnapshotTarget `json:"to"`

	// bytesPerSecond is how many bytes of keys and values are saved per second, of all servers together, from 64Ki to
	// 64Gi. The limit leaves enough capacity of the network to clients. Defaults to 16Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Ki')) >= 0",message="bytesPerSecond must be a quantity of at least 64Ki, such as 16Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('64Gi')) <= 0",message="bytesPerSecond must be at most 64Gi, which no network exceeds: lower it"
	BytesPerSecond *resource.Quantity `json:"bytesPerSecond,omitempty"`
}

// MemcachedReference names a Memcached in the same namespace.
type MemcachedReference struct {
	// name is the name of the Memcached.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}

// SnapshotTarget is a bucket or a volume.
//
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.persistentVolumeClaim)",message="a snapshot needs either a bucket, by url, or a volume, by persistentVolumeClaim"
// +kubebuilder:validation:XValidation:rule="!has(self.credentials) || has(self.url)",message="credentials are only for a bucket: remove them, or set url to the bucket"
type SnapshotTarget struct {
	// url is the bucket: s3://BUCKET?region=REGION, gs://BUCKET or azblob://CONTAINER. With prefix=FOLDER/ after the "?",
	// the names of all objects begin with FOLDER/. Defaults to none: persistentVolumeClaim is required.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(s3|gs|azblob)://[A-Za-z0-9][-A-Za-z0-9_.]*(\?[!-~]*)?$`
	URL string `json:"url,omitempty"`

	// credentials are the credentials for the bucket. Defaults to the credentials that a Pod of the namespace has
	// without credentials in the spec.
	// +optional
	Credentials *SnapshotCredentials `json:"credentials,omitempty"`

	// persistentVolumeClaim is the volume. Defaults to none: url is required.
	// +optional
	PersistentVolumeClaim *SnapshotVolume `json:"persistentVolumeClaim,omitempty"`
}

// SnapshotVolume is a PersistentVolumeClaim in the same namespace.
type SnapshotVolume struct {
	// claimName is the name of the PersistentVolumeClaim. The snapshot is a folder in its root.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ClaimName string `json:"claimName"`
}

// SnapshotCredentials are the credentials for a bucket: a Secret, or the workload identity of a ServiceAccount.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretName) != has(self.serviceAccountName)",message="credentials need either a Secret, by secretName, or a workload identity, by serviceAccountName"
type SnapshotCredentials struct {
	// secretName is a Secret in the same namespace. For s3:// and azblob://, its keys are environment variables:
	// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY. For gs://, its key
	// key.json is the key of a service account. Defaults to none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName,omitempty"`

	// serviceAccountName is a ServiceAccount in the same namespace whose Pods have the rights on the bucket, by the
	// workload identity of the cloud. Defaults to none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// MemcachedSnapshotStatus is the observed state of a snapshot.
type MemcachedSnapshotStatus struct {
	// conditions report whether the snapshot is written and, if not, why, as in kstatus: Ready is always set; Reconciling
	// and Stalled are set only while they are True, and never both. Once Ready is True, it stays True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// startTime is when the Job was created.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the snapshot was completely written; empty before, and if the save failed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// snapshotName is the name of the snapshot in the bucket or the volume. The snapshot is complete only if the reason of
	// Ready is Saved.
	// +optional
	SnapshotName string `json:"snapshotName,omitempty"`

	// servers is the number of servers whose keys are saved.
	// +optional
	Servers int32 `json:"servers,omitempty"`

	// items is how many items are saved.
	// +optional
	Items int64 `json:"items,omitempty"`

	// bytes is how many bytes the keys and values of the items have.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`

	// storedBytes is how many bytes the objects in the bucket or the volume have.
	// +optional
	StoredBytes int64 `json:"storedBytes,omitempty"`
}
