package secrets

import "testing"

func TestACertificateCoversAHostByAnyNameOfIt(t *testing.T) {
	const slot, service = "shop-0.shop-slots.team.svc", "shop-0.team.svc"
	tests := map[string]struct {
		host  string
		names []string
		want  bool
	}{
		"it has no name":                       {slot, nil, false},
		"it has the name":                      {slot, []string{"shop.team.svc", slot}, true},
		"it has the name in capital letters":   {slot, []string{"SHOP-0.shop-slots.team.svc"}, true},
		"it has a wildcard":                    {slot, []string{"*.shop-slots.team.svc"}, true},
		"it has only the name of the cache":    {slot, []string{"shop.team.svc"}, false},
		"a wildcard stands for one label only": {slot, []string{"*.team.svc"}, false},
		"it has the name of another slot":      {slot, []string{"shop-1.shop-slots.team.svc"}, false},
		"it has the name in another namespace": {slot, []string{"shop-0.shop-slots.other.svc"}, false},
		"it has the name without svc":          {slot, []string{"*.shop-slots.team"}, true},
		"it has the name within the namespace": {slot, []string{"*.shop-slots"}, true},
		"it has the first label alone":         {service, []string{"shop-0"}, true},
		"it has the name with a domain":        {slot, []string{"*.shop-slots.team.svc.cluster.local"}, true},
		"it has another name with a domain":    {slot, []string{"*.shop-slots.other.svc.cluster.local"}, false},
		"it has the wildcard of a namespace":   {service, []string{"*.team.svc"}, true},
		"it has the other kind of name":        {service, []string{"*.shop-slots.team.svc"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (&State{DNSNames: tc.names}).Covers(tc.host); got != tc.want {
				t.Errorf("%q cover %s: %v", tc.names, tc.host, got)
			}
		})
	}
}
