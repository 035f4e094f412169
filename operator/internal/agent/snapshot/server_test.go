package snapshot

import "testing"

func TestARestartIsSeenWithinAContainer(t *testing.T) {
	began := stateOf(map[string]string{"pid": "1", "time": "1000", "uptime": "600"})
	for sentence, tc := range map[string]struct {
		stats map[string]string
		same  bool
	}{
		"it runs on":               {map[string]string{"pid": "1", "time": "1090", "uptime": "690"}, true},
		"its clock was set":        {map[string]string{"pid": "1", "time": "1091", "uptime": "690"}, true},
		"it restarted":             {map[string]string{"pid": "1", "time": "1090", "uptime": "5"}, false},
		"it restarted on the host": {map[string]string{"pid": "2", "time": "1000", "uptime": "600"}, false},
	} {
		if same := began.isSame(stateOf(tc.stats)); same != tc.same {
			t.Errorf("%s: the same process %t", sentence, same)
		}
	}
}
