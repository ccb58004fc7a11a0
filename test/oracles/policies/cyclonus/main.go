// Dumps the cases that cyclonus generates: for every step the objects that are there, and what cyclonus' own evaluator says of every
// pair of pods, whose addresses are of the family that the argument names (4 or 6). Built by ../cyclonus.ts.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/mattfenwick/cyclonus/pkg/connectivity/probe"
	"github.com/mattfenwick/cyclonus/pkg/generator"
	"github.com/mattfenwick/cyclonus/pkg/matcher"
	v1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

type step struct {
	Policies   []*networkingv1.NetworkPolicy `json:"policies"`
	Namespaces map[string]map[string]string  `json:"namespaces"`
	Pods       []pod                         `json:"pods"`
	// By `x/a y/b TCP 80`.
	Allowed map[string]bool `json:"allowed"`
}

type pod struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	IP        string            `json:"ip"`
	Ports     []port            `json:"ports"`
}

type port struct {
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	Port     int    `json:"port"`
}

type dumped struct {
	Title string `json:"title"`
	Steps []step `json:"steps"`
}

var namespaces = []string{"x", "y", "z"}

var isIPv6 bool

func address(index int) string {
	if isIPv6 {
		return fmt.Sprintf("fd00:10:128::%x", 10+index)
	}
	return fmt.Sprintf("10.128.0.%d", 10+index)
}

func resources() *probe.Resources {
	all := &probe.Resources{Namespaces: map[string]map[string]string{}}
	protocols := []v1.Protocol{v1.ProtocolTCP, v1.ProtocolUDP, v1.ProtocolSCTP}
	for _, namespace := range namespaces {
		all.Namespaces[namespace] = map[string]string{"ns": namespace, "kubernetes.io/metadata.name": namespace}
		for _, name := range []string{"a", "b", "c"} {
			made := probe.NewDefaultPod(namespace, name, []int{80, 81}, protocols, false, "")
			made.IP = address(len(all.Pods))
			made.ServiceIP = made.IP
			all.Pods = append(all.Pods, made)
		}
	}
	return all
}

type state struct {
	resources *probe.Resources
	policies  []*networkingv1.NetworkPolicy
	made      int
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (s *state) without(namespace, name string) []*networkingv1.NetworkPolicy {
	kept := []*networkingv1.NetworkPolicy{}
	for _, policy := range s.policies {
		if policy.Namespace != namespace || policy.Name != name {
			kept = append(kept, policy)
		}
	}
	return kept
}

func (s *state) apply(action *generator.Action) {
	switch {
	case action.CreatePolicy != nil:
		s.put(action.CreatePolicy.Policy)
	case action.UpdatePolicy != nil:
		s.put(action.UpdatePolicy.Policy)
	case action.DeletePolicy != nil:
		s.policies = s.without(action.DeletePolicy.Namespace, action.DeletePolicy.Name)
	case action.CreateNamespace != nil:
		s.resources = must(s.resources.CreateNamespace(action.CreateNamespace.Namespace, action.CreateNamespace.Labels))
	case action.SetNamespaceLabels != nil:
		s.resources = must(s.resources.UpdateNamespaceLabels(action.SetNamespaceLabels.Namespace, action.SetNamespaceLabels.Labels))
	case action.DeleteNamespace != nil:
		s.resources = must(s.resources.DeleteNamespace(action.DeleteNamespace.Namespace))
	case action.CreatePod != nil:
		s.resources = must(s.resources.CreatePod(action.CreatePod.Namespace, action.CreatePod.Pod, action.CreatePod.Labels))
	case action.SetPodLabels != nil:
		s.resources = must(s.resources.SetPodLabels(action.SetPodLabels.Namespace, action.SetPodLabels.Pod, action.SetPodLabels.Labels))
	case action.DeletePod != nil:
		s.resources = must(s.resources.DeletePod(action.DeletePod.Namespace, action.DeletePod.Pod))
	}
	// What a case makes has no address yet.
	for _, one := range s.resources.Pods {
		if one.IP == "" || one.IP == "TODO" {
			s.made++
			one.IP = address(20 + s.made)
			one.ServiceIP = one.IP
		}
	}
}

func (s *state) put(policy *networkingv1.NetworkPolicy) {
	s.policies = append(s.without(policy.Namespace, policy.Name), policy)
}

func (s *state) dump() step {
	out := step{
		Policies: append([]*networkingv1.NetworkPolicy{}, s.policies...), Namespaces: s.resources.Namespaces,
		Pods: []pod{}, Allowed: map[string]bool{},
	}
	for _, one := range s.resources.Pods {
		described := pod{Namespace: one.Namespace, Name: one.Name, Labels: one.Labels, IP: one.IP, Ports: []port{}}
		for _, container := range one.Containers {
			described.Ports = append(described.Ports, port{container.PortName, string(container.Protocol), container.Port})
		}
		out.Pods = append(out.Pods, described)
	}
	builder := &probe.JobBuilder{TimeoutSeconds: 1}
	runner := &probe.SimulatedJobRunner{Policies: matcher.BuildNetworkPolicies(true, s.policies)}
	for _, result := range runner.RunJobs(builder.GetJobsAllAvailableServers(s.resources, generator.ProbeModePodIP).Valid) {
		job := result.Job
		out.Allowed[fmt.Sprintf("%s %s %s %d", job.FromKey, job.ToKey, job.Protocol, job.ResolvedPort)] =
			result.Combined == probe.ConnectivityAllowed
	}
	return out
}

func main() {
	isIPv6 = os.Args[1] == "6"
	podZC := must(resources().GetPod("z", "c"))
	all := []dumped{}
	for _, testCase := range generator.NewTestCaseGenerator(true, podZC.IP, namespaces, nil, nil).GenerateTestCases() {
		now := &state{resources: resources()}
		out := dumped{Title: testCase.Description}
		for _, one := range testCase.Steps {
			for _, action := range one.Actions {
				now.apply(action)
			}
			out.Steps = append(out.Steps, now.dump())
		}
		all = append(all, out)
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		panic(err)
	}
}
