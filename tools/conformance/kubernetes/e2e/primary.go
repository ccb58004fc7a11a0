package main

import (
	"context"
	"encoding/json"
	"flag"
	"net/netip"

	"github.com/onsi/ginkgo/v2"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/test/e2e/framework"
)

var showPrimary = flag.Bool("primary-addresses", false, "show specs, as podIP, the address of a pod on its primary network")

func init() {
	framework.NewFrameworkExtensions = append(framework.NewFrameworkExtensions, func(f *framework.Framework) {
		ginkgo.BeforeEach(func() {
			if *showPrimary {
				f.ClientSet = primaryClient{f.ClientSet}
			}
		})
	})
}

// Specs with ipBlocks read podIP. On a pod with a primary network that is its address for the kubelet, which no policy is about.
type primaryClient struct{ clientset.Interface }

func (c primaryClient) CoreV1() corev1.CoreV1Interface { return primaryCore{c.Interface.CoreV1()} }

type primaryCore struct{ corev1.CoreV1Interface }

func (c primaryCore) Pods(namespace string) corev1.PodInterface {
	return primaryPods{c.CoreV1Interface.Pods(namespace)}
}

type primaryPods struct{ corev1.PodInterface }

func (p primaryPods) Get(ctx context.Context, name string, options metav1.GetOptions) (*v1.Pod, error) {
	pod, err := p.PodInterface.Get(ctx, name, options)
	if err == nil {
		err = showAddress(pod)
	}
	return pod, err
}

func (p primaryPods) List(ctx context.Context, options metav1.ListOptions) (*v1.PodList, error) {
	pods, err := p.PodInterface.List(ctx, options)
	if err != nil {
		return nil, err
	}
	for index := range pods.Items {
		if err := showAddress(&pods.Items[index]); err != nil {
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

// Leaves a pod without the annotation as it is. The first address is IPv4 where there are two.
func showAddress(pod *v1.Pod) error {
	attachments := map[string]attachment{}
	text, ok := pod.Annotations["k8s.ovn.org/pod-networks"]
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &attachments); err != nil {
		return err
	}
	for _, one := range attachments {
		if one.Role == "primary" && len(one.Addresses) > 0 {
			pod.Status.PodIP = one.Addresses[0].Addr().String()
		}
	}
	return nil
}
