// Coredns is CoreDNS with the plugins that the local cluster's Corefile names, and no others: the whole set brings the
// client libraries of three clouds, which take longer to compile than all the rest of CoreDNS.
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
