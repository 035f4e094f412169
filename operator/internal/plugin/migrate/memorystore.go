package migrate

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// instance has the fields of Instance in Memorystore's API that are translated or reported.
type instance struct {
	Name       string // projects/PROJECT/locations/REGION/instances/NAME
	Labels     map[string]string
	NodeCount  int32
	NodeConfig struct {
		CPUCount     int   `json:"cpuCount"`
		MemorySizeMb int64 `json:"memorySizeMb"`
	}
	MemcacheVersion   string
	Parameters        struct{ Params map[string]string }
	MemcacheNodes     []struct{ Zone string }
	Zones             []string
	DiscoveryEndpoint string
	AuthorizedNetwork string
	State             string
	MaintenancePolicy *struct{}
}

const mebibyte = 1 << 20

func (i instance) cache(o Options) (*cache, error) {
	memory := resource.NewQuantity(i.NodeConfig.MemorySizeMb*mebibyte, resource.BinarySI)
	if o.Memory != nil {
		memory = o.Memory
	}
	result := newCache(path.Base(i.Name), i.NodeCount, *memory, o)
	zones := map[string]bool{}
	for _, zone := range i.Zones {
		zones[zone] = true
	}
	for _, node := range i.MemcacheNodes {
		zones[node.Zone] = true
	}
	result.spread(zones)
	for _, name := range slices.Sorted(maps.Keys(i.Parameters.Params)) {
		if err := result.parameter(name, i.Parameters.Params[name]); err != nil {
			return nil, err
		}
	}
	i.reportRest(result)
	return result, nil
}

// arguments are the parameters that become an argument of memcached with the same value.
var arguments = map[string]string{"listen-backlog": "--listen-backlog", "slab-min-size": "--slab-min-size",
	"slab-growth-factor": "--slab-growth-factor"}

// parameter translates one of the parameters that users of Memorystore can set.
func (c *cache) parameter(name, value string) error {
	switch {
	case name == "max-item-size":
		bytes, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("parameter max-item-size: %w", err)
		}
		c.spec.MaxItemSize = resource.NewQuantity(bytes, resource.BinarySI)
	case arguments[name] != "":
		c.spec.ExtraArgs = append(c.spec.ExtraArgs, arguments[name]+"="+value)
	case name == "disable-flush-all" || name == "disable-watch" || name == "idle-timeout":
		c.report("parameter %s=%s: not possible with slots, which need flush_all, watch and open connections", name, value)
	default:
		c.report("parameter %s=%s: see spec.extraArgs", name, value)
	}
	return nil
}

// reportRest reports settings that have no counterpart, or that the description does not have in full.
func (i instance) reportRest(result *cache) {
	result.report("memcacheVersion %s: "+image, i.MemcacheVersion)
	result.report("nodeConfig.cpuCount %d: "+cpu, i.NodeConfig.CPUCount)
	if i.AuthorizedNetwork != "" {
		result.report("authorizedNetwork %s: "+clients, i.AuthorizedNetwork)
	}
	if _, port, found := strings.Cut(i.DiscoveryEndpoint, ":"); found {
		if number, err := strconv.Atoi(port); err == nil {
			result.reportPort(number)
		}
	}
	if len(i.Labels) > 0 {
		result.report("labels %v: add them to spec.commonMetadata.labels", i.Labels)
	}
	if i.MaintenancePolicy != nil {
		result.report("maintenancePolicy: " + maintenance)
	}
	if i.State != "READY" {
		result.report("state %s: the description may change", i.State)
	}
}
