package migrate

import (
	"fmt"
	"strings"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// cluster has the fields of CacheCluster in ElastiCache's API that are translated or reported.
type cluster struct {
	CacheClusterID        string   `json:"CacheClusterId"`
	ConfigurationEndpoint endpoint `json:"ConfigurationEndpoint"`
	CacheNodeType         string
	Engine                string
	EngineVersion         string
	NumCacheNodes         int32
	CacheNodes            []struct {
		Endpoint                 endpoint
		CustomerAvailabilityZone string
	}
	PreferredMaintenanceWindow string
	CacheParameterGroup        struct{ CacheParameterGroupName string }
	SecurityGroups             []struct {
		SecurityGroupID string `json:"SecurityGroupId"`
	}
	NotificationConfiguration struct{ TopicArn string }
	TransitEncryptionEnabled  bool
	NetworkType               string
}

type endpoint struct {
	Address string
	Port    int
}

func readClusters(clusters []cluster, o Options) (caches []*cache, err error) {
	types := map[string]bool{}
	for _, c := range clusters {
		if c.Engine != "memcached" {
			return nil, fmt.Errorf("%s is a cluster of %s: choose one of memcached by --cache-cluster-id",
				c.CacheClusterID, c.Engine)
		}
		if types[c.CacheNodeType] = true; len(types) > 1 {
			return nil, fmt.Errorf("the node type of %s differs from that of the clusters before it, "+
				"and --memory can fit only one of them: choose a cluster by --cache-cluster-id", c.CacheClusterID)
		}
		translated, err := c.cache(o)
		if err != nil {
			return nil, err
		}
		caches = append(caches, translated)
	}
	return caches, nil
}

func (c cluster) cache(o Options) (*cache, error) {
	if o.Memory == nil {
		return nil, fmt.Errorf("ElastiCache does not describe the memory of %s: give --memory; this command prints its "+
			"value:\n"+
			`printf 'stats\r\nquit\r\n' | %s | grep limit_maxbytes`, c.CacheNodeType, c.connect())
	}
	result := newCache(c.CacheClusterID, c.NumCacheNodes, *o.Memory, o)
	zones := map[string]bool{}
	for _, node := range c.CacheNodes {
		zones[node.CustomerAvailabilityZone] = true
	}
	result.spread(zones)
	result.reportPort(c.server().Port)
	if c.TransitEncryptionEnabled {
		result.spec.TLS = &cachev1.TLS{SecretName: c.CacheClusterID + "-tls"}
		result.report("TransitEncryptionEnabled: make the Secret %s with a certificate, and give clients its CA",
			result.spec.TLS.SecretName)
	}
	c.reportRest(result)
	return result, nil
}

// reportRest reports settings that have no counterpart, or that the description does not have in full.
func (c cluster) reportRest(result *cache) {
	result.report("EngineVersion %s: "+image, c.EngineVersion)
	result.report("CacheNodeType %s: only its memory is translated; "+cpu, c.CacheNodeType)
	if group := c.CacheParameterGroup.CacheParameterGroupName; !strings.HasPrefix(group, "default.") {
		result.report("CacheParameterGroup %s: see aws elasticache describe-cache-parameters --source user "+
			"--cache-parameter-group-name %s, and set maxItemSize, threads, extraArgs", group, group)
	}
	for _, group := range c.SecurityGroups {
		result.report("SecurityGroup %s: "+clients, group.SecurityGroupID)
	}
	if c.NetworkType != "" && c.NetworkType != "ipv4" {
		result.report("NetworkType %s: set spec.service.ipFamilyPolicy", c.NetworkType)
	}
	if c.PreferredMaintenanceWindow != "" {
		result.report("PreferredMaintenanceWindow %s: "+maintenance, c.PreferredMaintenanceWindow)
	}
	if topic := c.NotificationConfiguration.TopicArn; topic != "" {
		result.report("NotificationConfiguration %s: use the alerts of docs/monitoring.md", topic)
	}
}

// connect returns a shell command that sends its input to one of the servers.
func (c cluster) connect() string {
	server := c.server()
	if c.TransitEncryptionEnabled {
		return fmt.Sprintf("openssl s_client -quiet -connect %s:%d", server.Address, server.Port)
	}
	return fmt.Sprintf("nc %s %d", server.Address, server.Port)
}

// server returns one of the servers, or the configuration endpoint if no server is described.
func (c cluster) server() endpoint {
	if len(c.CacheNodes) > 0 {
		return c.CacheNodes[0].Endpoint
	}
	return c.ConfigurationEndpoint
}
