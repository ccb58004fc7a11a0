package main

import (
	"encoding/json"
	"maps"
	"net/netip"

	"github.com/mattfenwick/cyclonus/pkg/kube"
	v1 "k8s.io/api/core/v1"
)

// A cluster whose pods have, to cyclonus, their addresses on the network that is primary to them.
type cluster struct {
	*kube.Kubernetes
	isIPv6 bool
}

// By which ../tenants.ts knows the namespaces of a suite.
const runLabel = "e2e-run"

// What cases have no right to take off their namespaces.
var keptLabels = []string{runLabel, "conformance-suite", "k8s.ovn.org/primary-user-defined-network", "kubernetes.io/metadata.name"}

func (c *cluster) CreateNamespace(namespace *v1.Namespace) (*v1.Namespace, error) {
	labelled := namespace.DeepCopy()
	labelled.Labels = maps.Clone(namespace.Labels)
	if labelled.Labels == nil {
		labelled.Labels = map[string]string{}
	}
	labelled.Labels[runLabel] = "cyclonus"
	return c.Kubernetes.CreateNamespace(labelled)
}

func (c *cluster) SetNamespaceLabels(name string, labels map[string]string) (*v1.Namespace, error) {
	namespace, err := c.GetNamespace(name)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(labels)
	for _, key := range keptLabels {
		if value, ok := namespace.Labels[key]; ok {
			all[key] = value
		}
	}
	return c.Kubernetes.SetNamespaceLabels(name, all)
}

func (c *cluster) GetPod(namespace string, name string) (*v1.Pod, error) {
	pod, err := c.Kubernetes.GetPod(namespace, name)
	if err != nil {
		return nil, err
	}
	return pod, c.setAddress(pod)
}

func (c *cluster) GetPodsInNamespace(namespace string) ([]v1.Pod, error) {
	pods, err := c.Kubernetes.GetPodsInNamespace(namespace)
	if err != nil {
		return nil, err
	}
	for index := range pods {
		if err := c.setAddress(&pods[index]); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

// Of an annotation of OVN-Kubernetes: a network's key, and what the pod has there.
type attachment struct {
	Addresses []netip.Prefix `json:"ip_addresses"`
	Role      string         `json:"role"`
}

// Leaves a pod that has no address yet without one.
func (c *cluster) setAddress(pod *v1.Pod) error {
	text, ok := pod.Annotations["k8s.ovn.org/pod-networks"]
	pod.Status.PodIP = ""
	if !ok || pod.Status.Phase != v1.PodRunning {
		return nil
	}
	attachments := map[string]attachment{}
	if err := json.Unmarshal([]byte(text), &attachments); err != nil {
		return err
	}
	for _, one := range attachments {
		for _, address := range one.Addresses {
			if one.Role == "primary" && address.Addr().Is6() == c.isIPv6 {
				pod.Status.PodIP = address.Addr().String()
			}
		}
	}
	return nil
}
