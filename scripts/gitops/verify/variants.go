package verify

import (
	"path"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

// variant is a choice that a user of the tree can make.
type variant struct {
	architecture string
	options      []string
	// own are files that the user has to write for it.
	own repo.Files
}

// ownFiles are what options ask their user to write, by the option: without it they build nothing.
var ownFiles = map[string]repo.Files{
	"ingress": {"gitops/console/console-oidc.yaml": []byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: console-oidc
  namespace: okd-console
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  host: console.example.com
  issuerURL: https://login.example.com
  clientID: okd-console
  scopes: email,groups
  secretName: console-oidc
  clusterIssuer: letsencrypt
  gateway: ingressgateway
`)},
}

// variants are each architecture without options, and with each of them.
func variants(files repo.Files) []variant {
	var all []variant
	for _, architecture := range files.Architectures() {
		all = append(all, variant{architecture: architecture})
		for _, option := range files.Options() {
			v := variant{architecture: architecture, options: []string{option.Name}, own: repo.Files{}}
			for name, content := range ownFiles[option.Name] {
				if _, written := files[name]; !written {
					v.own[name] = content
				}
				if files.With(v.own).Offers(path.Base(name)) { // else its line is no comment any more
					v.options = append(v.options, path.Base(name))
				}
			}
			all = append(all, v)
		}
	}
	return all
}

// of is the files with the choice made.
func (v variant) of(files repo.Files) (repo.Files, error) {
	files, err := files.With(v.own).WithArchitecture(v.architecture)
	if err != nil {
		return nil, err
	}
	return files.WithOptions(v.options...)
}
