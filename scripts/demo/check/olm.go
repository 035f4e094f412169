package check

import (
	"context"
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// brought is a CRD that a way brings along, with the Application that does so.
type brought struct{ crd, by, what string }

var broughtBy = map[target.Way][]brought{
	target.OLM: {{"subscriptions.operators.coreos.com", "olm", "OLM"}},
	target.OLMv1: {
		{"certificates.cert-manager.io", "cert-manager", "cert-manager"},
		{"clusterextensions.olm.operatorframework.io", "operator-controller", "OLM v1"},
	},
}

var insteadOf = map[target.Way]string{
	target.OLM:   "choose --way openshift (WAY=openshift for make), which is for clusters that have OLM",
	target.OLMv1: "choose another way, or a cluster without it: this way would take it over",
}

// olm finds out whether OLM is there, for the way that needs it, and is not there, for those that bring it.
func olm(ctx context.Context, s *Subject) Result {
	if s.Way == target.OpenShift {
		return s.hasOLM(ctx)
	}
	found := "not there yet"
	for _, part := range broughtBy[s.Way] {
		crd, err := s.definition(ctx, part.crd)
		switch {
		case err != nil:
			return failed(err.Error(), "ask for the right to read CustomResourceDefinitions")
		case crd != nil && trackedBy(crd) != part.by:
			return failed(part.what+" is there already, and is not of Argo CD's Application "+part.by, insteadOf[s.Way])
		case crd != nil:
			found = "there already, of an earlier demo"
		}
	}
	return passed(found + "; Argo CD must be able to fetch releases from github.com")
}

func (s *Subject) hasOLM(ctx context.Context) Result {
	for _, name := range []string{"catalogsources", "operatorgroups", "subscriptions"} {
		name += ".operators.coreos.com"
		crd, err := s.definition(ctx, name)
		switch {
		case err != nil:
			return failed(err.Error(), "ask for the right to read CustomResourceDefinitions")
		case crd == nil:
			return failed("the CRD "+name+" is missing", "choose --way olm (WAY=olm for make), which installs OLM")
		case trackedBy(crd) == "olm":
			return failed("OLM is there by Argo CD's Application olm",
				fmt.Sprintf("choose --way %s (WAY=%[1]s for make), which goes on with it", target.OLM))
		}
	}
	return passed("there")
}
