// What the programs of ../v1alpha1 and ../v1alpha2 share, which settle the versions.
module ovn-udn/tools/conformance/network-policy-api/harness

go 1.24.0

require (
	k8s.io/apimachinery v0.33.0
	k8s.io/client-go v0.33.0
	sigs.k8s.io/controller-runtime v0.18.4
)
