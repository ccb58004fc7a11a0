// CoreDNS with the plugins that a DNS server of a cluster needs, and those of servers that Kubernetes' specs start (hosts, log).
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/ready"
)

// In the order in which they are asked.
func init() {
	dnsserver.Directives = []string{"errors", "log", "health", "ready", "cache", "loadbalance", "hosts", "kubernetes"}
}

func main() { coremain.Run() }
