// The conformance tests of network-policy-api for ClusterNetworkPolicy, as a program.
package main

import (
	"bytes"
	"testing"
	"text/template"

	"ovn-udn/tools/conformance/network-policy-api/harness"
	"sigs.k8s.io/network-policy-api/apis/v1alpha2"
	"sigs.k8s.io/network-policy-api/conformance"
	"sigs.k8s.io/network-policy-api/conformance/tests"
	"sigs.k8s.io/network-policy-api/conformance/utils/kubernetes"
	"sigs.k8s.io/network-policy-api/conformance/utils/suite"
)

func main() { harness.Main(v1alpha2.Install, run) }

// Of the host network: those that Setup of the suite takes by default.
var ports = []int{34345, 34346, 34347, 34348, 34349, 34350, 34351, 34352}

func run(t *testing.T, cluster harness.Cluster) {
	tested := suite.New(suite.Options{
		Client: cluster.Client, ClientSet: cluster.ClientSet, KubeConfig: *cluster.Config, EnableAllSupportedFeatures: true,
	})
	// Of ../../other-suites.ts. Tests of other protocols have single probes of SCTP among theirs.
	kubernetes.SkipSCTP = !cluster.HasSCTP
	// In the place of its Setup, which needs SCTP.
	tested.Applier.FS = tested.FS
	tested.HostNetworkPorts, tested.Applier.HostNetworkPorts = ports, ports
	cluster.CreateBase(t, baseManifests(t, tested.BaseManifests))
	kubernetes.NamespacesMustBeReady(t, cluster.Client, tested.TimeoutConfig, harness.Namespaces, harness.StatefulSets)
	names := []string{}
	for _, test := range tests.ConformanceTests {
		names = append(names, test.ShortName)
	}
	cluster.Announce(names)
	for _, test := range tests.ConformanceTests {
		cluster.Run(t, test.ShortName, func(t *testing.T) { test.Run(t, tested) })
	}
}

func baseManifests(t *testing.T, path string) []byte {
	file, err := conformance.Manifests.ReadFile(path)
	harness.Check(t, err)
	parsed, err := template.New("base").Parse(string(file))
	harness.Check(t, err)
	var rendered bytes.Buffer
	harness.Check(t, parsed.Execute(&rendered, struct{ HostNetworkPorts []int }{ports}))
	return rendered.Bytes()
}
