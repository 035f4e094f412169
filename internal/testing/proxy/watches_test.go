package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const (
	mediaJSON     = runtime.ContentTypeJSON
	mediaProtobuf = runtime.ContentTypeProtobuf
)

// events returns a handler that serves a watch of Pods, with the events that the handler receives from sent.
func events(t *testing.T, media string, sent <-chan metav1.WatchEvent) http.HandlerFunc {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		_ = http.NewResponseController(w).Flush()
		encoder := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(w), info.StreamSerializer.Serializer)
		for {
			select {
			case event, more := <-sent:
				if !more {
					return
				}
				codec := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
				raw, err := runtime.Encode(codec, event.Object.Object)
				if err != nil {
					t.Error(err)
				}
				_ = encoder.Encode(&metav1.WatchEvent{Type: event.Type, Object: runtime.RawExtension{Raw: raw}})
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
}

func pod(kind watch.EventType, name string) metav1.WatchEvent {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Object: object}}
}

// watched is a watch by client-go through a proxy.
type watched struct {
	*Proxy
	send chan metav1.WatchEvent
	watch.Interface
}

func watchPods(t *testing.T, media string) watched {
	t.Helper()
	w := watched{send: make(chan metav1.WatchEvent, 10)}
	var url string
	w.Proxy, url = between(t, events(t, media, w.send))
	config := &rest.Config{Host: url}
	config.ContentType = media
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if w.Interface, err = kube.CoreV1().Pods("x").Watch(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// next waits for an event, and describes it. It returns "end" if the watch has ended, and "" if no event comes in time.
func (w watched) next(ctx context.Context, patience time.Duration) string {
	select {
	case <-ctx.Done():
		return "stopped"
	case <-time.After(patience):
		return ""
	case event, more := <-w.ResultChan():
		switch object := event.Object.(type) {
		case *corev1.Pod:
			return fmt.Sprintf("%s %s", event.Type, object.Name)
		case *metav1.Status:
			return fmt.Sprintf("%s %d %s", event.Type, object.Code, object.Reason)
		}
		if more {
			return fmt.Sprintf("%s %T", event.Type, event.Object)
		}
		return "end"
	}
}

const (
	soon   = 2 * time.Minute
	silent = 50 * time.Millisecond
)

func all(Request) bool { return true }

func TestFaultsOfWatches(t *testing.T) {
	tests := map[string]func(t *testing.T, w watched) (got, want []string){
		"without a fault, events and the end arrive": func(t *testing.T, w watched) (got, want []string) {
			w.send <- pod(watch.Added, "a")
			w.send <- pod(watch.Bookmark, "")
			close(w.send)
			return []string{w.next(t.Context(), soon), w.next(t.Context(), soon), w.next(t.Context(), soon)},
				[]string{"ADDED a", "BOOKMARK ", "end"}
		},
		"late events come in order": func(t *testing.T, w watched) (got, want []string) {
			w.Delay(&Lateness{Matches: all, By: 2 * silent})
			w.send <- pod(watch.Added, "a")
			w.send <- pod(watch.Added, "b")
			return []string{w.next(t.Context(), silent), w.next(t.Context(), soon), w.next(t.Context(), soon)},
				[]string{"", "ADDED a", "ADDED b"}
		},
		"what a silent watch holds is delivered at the end": func(t *testing.T, w watched) (got, want []string) {
			late := &Lateness{Matches: all, Silent: true}
			w.Delay(late)
			w.send <- pod(watch.Added, "a")
			got = append(got, w.next(t.Context(), silent))
			got = append(got, fmt.Sprint(w.Hurry(late)), fmt.Sprint(w.Hurry(late)))
			return append(got, w.next(t.Context(), soon)), []string{"", "true", "true", "ADDED a"}
		},
		"other watches are not late": func(t *testing.T, w watched) (got, want []string) {
			late := &Lateness{Matches: Watches("services"), Silent: true}
			w.Delay(late)
			w.send <- pod(watch.Added, "a")
			return []string{w.next(t.Context(), soon), fmt.Sprint(w.Hurry(late))}, []string{"ADDED a", "false"}
		},
		"a watch is cut": func(t *testing.T, w watched) (got, want []string) {
			ended := w.EndWatches(all, false)
			none := w.EndWatches(Watches("services"), false)
			return []string{fmt.Sprint(ended, none), w.next(t.Context(), soon)}, []string{"true false", "end"}
		},
		"a watch ends by an error": func(t *testing.T, w watched) (got, want []string) {
			w.send <- pod(watch.Added, "a")
			got = append(got, w.next(t.Context(), soon))
			w.EndWatches(all, true)
			return append(got, w.next(t.Context(), soon), w.next(t.Context(), soon)),
				[]string{"ADDED a", "ERROR 410 Expired", "end"}
		},
		"a new process ends the watches of the one before": func(t *testing.T, w watched) (got, want []string) {
			w.Reset()
			return []string{w.next(t.Context(), soon)}, []string{"end"}
		},
	}
	for name, test := range tests {
		for _, media := range []string{mediaJSON, mediaProtobuf} {
			t.Run(name+" in "+media, func(t *testing.T) {
				got, want := test(t, watchPods(t, media))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestARefusedWatchIsAnErrorOfItsStart(t *testing.T) {
	p, url := between(t, func(http.ResponseWriter, *http.Request) {})
	p.Add(&Rule{Matches: Watches(""), Times: 1, Fault: Refuse(http.StatusGone, 0)})
	response, err := http.Get(url + "/api/v1/namespaces/x/pods?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var status metav1.Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil || status.Reason != metav1.StatusReasonExpired {
		t.Errorf("%s with reason %q, %v, want Expired", response.Status, status.Reason, err)
	}
}

func TestAnOperatorIsIdleOnlyWithAllItsWatches(t *testing.T) {
	send := make(chan metav1.WatchEvent)
	p, url := between(t, events(t, mediaJSON, send), "services")
	if p.Idle() != 0 {
		t.Error("an operator that has not started is idle")
	}
	var stops []context.CancelFunc
	for _, resource := range []string{"pods", "services"} {
		ctx, stop := context.WithCancel(t.Context())
		stops = append(stops, stop)
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/namespaces/x/"+resource+"?watch=true", http.NoBody)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		time.Sleep(time.Millisecond)
		if got, want := p.Idle() > 0, resource == "services"; got != want {
			t.Errorf("after a watch of %s it is idle: %t, want %t", resource, got, want)
		}
	}
	stops[0]()
	for deadline := time.Now().Add(soon); p.Idle() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an operator that does not have a watch is idle")
		}
	}
	stops[1]()
}
