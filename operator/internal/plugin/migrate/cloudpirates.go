package migrate

import (
	"strconv"
	"strings"
)

var cloudPirates = chart{
	title: "CloudPirates' chart", nameLimit: 63,
	signs: []string{"config.extraArgs", "config.maxConnections", "config.memoryLimit", "config.verbosity",
		"deploymentType", "extraObjects", "gatewayAPI", "targetPlatform"},
	arguments: func(r *release) []commandLine {
		verbosity, _ := strconv.Atoi(r.text("config.verbosity"))
		return []commandLine{
			{"config.memoryLimit", withValue("-m", r.text("config.memoryLimit"))},
			{"config.maxConnections", withValue("-c", r.text("config.maxConnections"))},
			{"config.verbosity", alone("-"+strings.Repeat("v", verbosity), verbosity > 0)},
			{"config.extraArgs", get[[]string](r, "config.extraArgs")},
		}
	},
	translate: func(r *release) {
		r.setOfficialImage()
		if r.peek("service.clusterIP") == "None" {
			r.at("service.clusterIP") // The Service of a Memcached has no cluster IP, either.
		}
	},
	servers: func(r *release) []string {
		switch {
		case r.text("deploymentType") == "StatefulSet":
			return r.podServers(r.fullName, "11211")
		case *r.spec.Size == 1:
			return []string{r.server(r.fullName, r.text("service.port"))}
		}
		r.report("deploymentType Deployment with replicaCount %d: the Pods have no names that stay, and behind one cluster "+
			"IP, any of them could have a key; start with an empty cache", *r.spec.Size)
		return nil
	},
}

// withValue returns an option with its value. If the value is empty or 0, it returns nothing, because the chart then
// leaves the option out.
func withValue(name, value string) []string {
	if value == "" || value == "0" {
		return nil
	}
	return []string{name, value}
}

// alone returns an option without a value, if it is on.
func alone(name string, on bool) []string {
	if !on {
		return nil
	}
	return []string{name}
}
