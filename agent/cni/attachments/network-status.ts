/**
 * What a pod is attached to, as `k8s.v1.cni.cncf.io/network-status` says it: by the ports that its sandbox has in Open vSwitch, not by
 * what its annotations ask for, which may have been edited since. Pure.
 */
import {
  type AttachedNetwork,
  attachedNetworks,
  formatAttachedNetworks,
  type MadeInterface,
  withForeign,
} from '../../../api/annotations/attached-networks.ts';
import type { PodAttachments } from '../../model/attachments.ts';
import type { PluggedPort } from '../ovs-ports.ts';
import { hostNames } from '../plumbing.ts';

/**
 * @param ports of the pod's sandbox
 * @param foreign what plugins of other networks have made in it
 * @returns undefined while that is not known: of one of its interfaces there is no address or no network. What was written stays true, as
 * interfaces of a pod do not change.
 */
export const networkStatusText = (
  attachments: PodAttachments,
  ports: readonly PluggedPort[],
  foreign: readonly AttachedNetwork[] = [],
): string | undefined => {
  if (ports.length === 0) return undefined;
  const made = inOrder(ports).map((port) => madeInterface(port, attachments));
  const known = made.flatMap((one) => one ?? []);
  return known.length < made.length ? undefined : formatAttachedNetworks(withForeign(attachedNetworks(known), foreign));
};

/** As they were made: names of the node's ends follow from it. */
const inOrder = (ports: readonly PluggedPort[]): readonly PluggedPort[] => {
  const names = hostNames(ports[0]?.sandbox ?? '');
  return ports.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
};

const madeInterface = (
  { nadKey, interfaceName }: PluggedPort,
  { pod: { networks }, attachments, held }: PodAttachments,
): MadeInterface | undefined => {
  const isIt = (one: { readonly nadKey: string }): boolean => one.nadKey === nadKey;
  const entry = networks.get(nadKey);
  const attachment = attachments.find(isIt);
  const network = (attachment ?? held.find(isIt))?.network;
  if (entry === undefined || network === undefined) return undefined;
  return { nadKey, interfaceName, entry, mtu: network.mtu, requestedGateways: attachment?.selection?.defaultRoute };
};
