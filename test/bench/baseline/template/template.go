// Package template is the format of the requests that the baseline sends for each Memcached.
package template

// Placeholders in recorded requests. The baseline replaces them by the values of each Memcached.
const (
	Name      = "$(NAME)"
	Namespace = "$(NAMESPACE)"
	UID       = "$(UID)"
)

// Request is a patch.
type Request struct {
	URI  string `json:"uri"`
	Type string `json:"type"` // media type
	Body string `json:"body"`
}
