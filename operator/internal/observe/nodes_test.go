package observe

import "testing"

func TestNodeKind(t *testing.T) {
	const arch, system = "kubernetes.io/arch", "kubernetes.io/os"
	tests := map[string]struct {
		labels map[string]string
		want   string
	}{
		"with Linux":      {map[string]string{arch: "s390x", system: "linux"}, "s390x"},
		"with Windows":    {map[string]string{arch: "amd64", system: "windows"}, "amd64 with windows"},
		"with no system":  {map[string]string{arch: "amd64"}, "amd64 without the label kubernetes.io/os"},
		"with no label":   {nil, "without the label kubernetes.io/arch"},
		"with other ones": {map[string]string{system: "linux"}, "without the label kubernetes.io/arch"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nodeKind(tc.labels); got != tc.want {
				t.Errorf("nodeKind() = %q, want %q", got, tc.want)
			}
		})
	}
}
