package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestTheProgressOfACopyIsReadFromTheEndOfTheLog(t *testing.T) {
	line := func(keys int) string { return fmt.Sprintf(`{"msg":"handoff","slot":"shop-0","keys":%d}`+"\n", keys) }
	tests := map[string]struct {
		log  string
		code int
		want instruction.Progress
	}{
		"the last line counts":     {log: line(1) + line(7), want: instruction.Progress{Slot: "shop-0", Keys: 7}},
		"other lines are ignored":  {log: line(7) + "{\"msg\":\"reload\"}\nno JSON\n", want: instruction.Progress{Slot: "shop-0", Keys: 7}},
		"half a line is ignored":   {log: `gs":1}` + "\n" + line(7) + `{"msg":"hand`, want: instruction.Progress{Slot: "shop-0", Keys: 7}},
		"an empty log":             {},
		"a Pod that has no log":    {code: http.StatusBadRequest},
		"a log that is not to see": {code: http.StatusForbidden},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.String()
				if tc.code != 0 {
					w.WriteHeader(tc.code)
				}
				_, _ = w.Write([]byte(tc.log))
			}))
			defer server.Close()
			read := progressReader(&rest.Config{Host: server.URL}, server.Client())
			got := read(t.Context(), types.NamespacedName{Namespace: "team", Name: "shop-7f-a"})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
			want := "/api/v1/namespaces/team/pods/shop-7f-a/log?container=agent&limitBytes=16384&tailLines=10"
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("requested (-want +got):\n%s", diff)
			}
		})
	}
}
