/**
 * What the host's own processes may reach of pods. It is decided where packets are made (hook `output`), by the cgroup of
 * the process: addresses say nothing, all of them are the node's.
 *
 * | who                                        | default-network address of a pod with a primary network | a pod of a network, by its management port (VRF) |
 * | ------------------------------------------ | ------------------------------------------------------- | ------------------------------------------------ |
 * | the kubelet                                | everything: probes                                      | nothing                                          |
 * | a host-network pod, namespace of network N | open ports                                              | N                                                |
 * | any other host-network pod or process      | open ports                                              | nothing                                          |
 *
 * Why (OKEP "User Defined Network Segmentation"): "we need to block host networked pods from being able to access pods via
 * the cluster default network … but still allow Kubelet to send probes" (Kubelet Probes); a host-network pod of a
 * namespace with a network "should be confined to only talking to ovn-networked pods on that same user-defined network",
 * for which "the only supported method will be for the applications to bind their socket to the VRF device" (Host
 * Networked Pods, VRF Considerations). It does not name other processes that bind to a VRF; nobody needs it, and whoever
 * gets into one would be in every tenant's network, so they may not.
 *
 * Both management ports are closed but for what is listed: `default-port.ts`, `chains.ts`. Not restricted here: services, which are
 * not reached by management ports (`host-nftables/host-pod-services.ts`); processes of pods, whose packets do not pass this hook.
 */
import type { OpenPort } from '../../../api/annotations/open-default-ports.ts';
import type { NftItem } from '../../../datapath/nftables/types.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import { isLocked, type PodFact, podKey } from '../../model/facts.ts';
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver, type Fragment } from '../../model/fragment.ts';
import { managementLinkName } from '../../model/host-names.ts';
import { addressElements, defaultAddresses, defaultPodElements, element } from '../../model/isolation-elements.ts';
import { kubeletLacks } from '../../model/kubelet-lacks.ts';
import { networkPacketMark } from '../../model/registry/marks.ts';
import { markChainName, NFT_SETS, setName } from '../../model/registry/nftables.ts';
import type { View } from '../../model/view.ts';
import { primaryNetworkName, routedNetwork } from '../shared/local-network.ts';
import { isolationItems, managementIsolationItems } from './chains.ts';
import { defaultPortItems } from './default-port.ts';

export const hostIsolation: FeatureOver<'zone'> = {
  name: 'host-isolation',
  over: 'zone',
  render: (_, view) => {
    const kubelet = view.kubeletCgroup();
    const items = [...isolationItems(kubelet), ...defaultPortItems(view), ...managementIsolationItems()];
    const lacks = kubeletLacks(kubelet);
    return { nftables: { items }, ...(lacks !== undefined && { diagnostics: [withoutKubelet(view.node, lacks)] }) };
  },
};

const withoutKubelet = (node: string, lacks: string): Diagnostic => ({
  object: `Node/${node}`,
  severity: 'warning',
  cause: 'kubelet-cgroup-missing',
  message: `${lacks}: its probes do not reach pods of primary networks`,
});

export const hostIsolationPod: FeatureOver<'pod'> = {
  name: 'host-isolation-pod',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    if (pod === undefined || pod.finished || pod.node !== view.node) return EMPTY_FRAGMENT;
    if (pod.hostNetwork) return hostPod(pod, view);
    return isLocked(pod) ? isolatedPod(pod) : { nftables: { items: defaultPodElements(pod) } };
  },
};

/** By its cgroup, to the management port of its namespace's network and to its Services (`host-nftables/host-pod-services.ts`). */
const hostPod = (pod: PodFact, view: View): Fragment => {
  const primary = primaryNetworkName(pod.namespace, view);
  if (primary === undefined) return EMPTY_FRAGMENT;
  const network = routedNetwork(primary, view)?.network;
  const cgroup = view.podCgroup(pod.runtimeUid);
  if (network?.role !== 'primary' || cgroup === undefined) return EMPTY_FRAGMENT;
  const key = `"${cgroup.path}" . "${managementLinkName(network.id)}"`;
  const comment = cgroup.id === undefined ? podKey(pod) : `${podKey(pod)} cgroup ${cgroup.id}`;
  const toServices = {
    set: NFT_SETS.markHostPods.name,
    key: `"${cgroup.path}"`,
    value: `jump ${markChainName(networkPacketMark(network.id))}`,
    comment,
  };
  const items: NftItem[] = [element(NFT_SETS.hostPods.name, key, comment), { kind: 'element', element: toServices }];
  return { nftables: { items } };
};

const isolatedPod = (pod: PodFact): Fragment => {
  const key = podKey(pod);
  const items = [
    ...addressElements(pod),
    ...defaultAddresses(pod).flatMap((ip) => (pod.openPorts ?? []).map((port) => openPort(ip, port, key))),
  ];
  const { unreadableOpenPorts: message } = pod;
  const diagnostics: Diagnostic[] =
    message === undefined
      ? []
      : [
          {
            object: `Pod/${key}`,
            severity: 'warning',
            cause: 'object-unreadable',
            message,
            event: 'ErrorUpdatingResource',
          },
        ];
  return { nftables: { items }, ...(diagnostics.length > 0 && { diagnostics }) };
};

const openPort = (ip: Ip, port: OpenPort, comment: string): NftItem =>
  port.protocol === 'icmp'
    ? element(setName('openIcmp', ipFamily(ip)), ip, comment)
    : element(setName('openPorts', ipFamily(ip)), `${ip} . ${port.protocol} . ${port.port}`, comment);
