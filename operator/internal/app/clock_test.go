package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestTheTimeIsThatOfTheAPIServer(t *testing.T) {
	tests := map[string]struct {
		date  string
		ahead time.Duration
	}{
		"its clock is an hour ahead": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), time.Hour},
		"its clock is a day behind":  {time.Now().Add(-24 * time.Hour).UTC().Format(http.TimeFormat), -24 * time.Hour},
		"it is not a time":           {"soon", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", tc.date) }))
			defer server.Close()
			clock := &serverClock{}
			config := &rest.Config{Host: server.URL}
			config.Wrap(clock.listen)
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				t.Fatal(err)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if off := time.Until(clock.now()) - tc.ahead; off < -time.Minute || off > time.Minute {
				t.Errorf("the time is %s off", off)
			}
		})
	}
}
