// Coredns is CoreDNS with only the plugins that the local cluster's Corefile names. All plugins of CoreDNS would bring
// the client libraries of three clouds, which take longer to compile than the rest of CoreDNS.
package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	coremain.Run()
}
