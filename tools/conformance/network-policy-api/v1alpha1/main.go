// The conformance tests of network-policy-api for AdminNetworkPolicy and BaselineAdminNetworkPolicy, as a program.
package main

import (
	"testing"

	"ovn-udn/tools/conformance/network-policy-api/harness"
	"sigs.k8s.io/network-policy-api/apis/v1alpha1"
	"sigs.k8s.io/network-policy-api/conformance"
	"sigs.k8s.io/network-policy-api/conformance/tests"
	"sigs.k8s.io/network-policy-api/conformance/utils/kubernetes"
	"sigs.k8s.io/network-policy-api/conformance/utils/suite"
)

func main() { harness.Main(v1alpha1.Install, run) }

func run(t *testing.T, cluster harness.Cluster) {
	tested := suite.New(suite.Options{
		Client: cluster.Client, ClientSet: cluster.ClientSet, KubeConfig: *cluster.Config, EnableAllSupportedFeatures: true,
	})
	// Of ../../other-suites.ts. Tests of other protocols have single probes of SCTP among theirs.
	kubernetes.SkipSCTP = !cluster.HasSCTP
	// In the place of its Setup, which needs SCTP.
	tested.Applier.FS = tested.FS
	manifests, err := conformance.Manifests.ReadFile(tested.BaseManifests)
	harness.Check(t, err)
	cluster.CreateBase(t, manifests)
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
