/** What goes into a CNI plugin: its environment and its stdin, CNI specification 1.1.0 sections 3 and 4. */

import type { NetworkConf, PluginConf } from './conf.ts';
import { shuffled } from './shuffled.ts';

export interface Attachment {
  /** 64 hexadecimal digits, as container runtimes make them. */
  readonly containerId: string;
  /** A path; empty when the namespace is gone. */
  readonly netns: string;
  readonly ifName: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
}

export const CNI_PATH = ['/opt/cni/bin', '/usr/lib/cni'];
export const POD_INTERFACE = 'eth0';

export const attachmentEnvironment = (
  command: 'ADD' | 'DEL' | 'CHECK',
  { containerId, netns, ifName, pod }: Attachment,
): Record<string, string> => ({
  CNI_COMMAND: command,
  CNI_CONTAINERID: containerId,
  CNI_NETNS: netns,
  CNI_IFNAME: ifName,
  CNI_PATH: CNI_PATH.join(':'),
  CNI_ARGS: podArguments(containerId, pod),
});

export const networkEnvironment = (command: 'STATUS' | 'GC'): Record<string, string> => ({
  CNI_COMMAND: command,
  CNI_PATH: CNI_PATH.join(':'),
});

/** A plugin's own configuration with the network's version and name, and what belongs to the operation. */
export const pluginInput = (
  { cniVersion, name }: Pick<NetworkConf, 'cniVersion' | 'name'>,
  plugin: PluginConf,
  more: Readonly<Record<string, unknown>> = {},
): string => JSON.stringify({ ...plugin, cniVersion, name, ...more });

/** Runtimes keep these in a map: the order is any. */
const podArguments = (containerId: string, { namespace, name, uid }: Attachment['pod']): string =>
  shuffled([
    'IgnoreUnknown=1',
    `K8S_POD_NAMESPACE=${namespace}`,
    `K8S_POD_NAME=${name}`,
    `K8S_POD_INFRA_CONTAINER_ID=${containerId}`,
    `K8S_POD_UID=${uid}`,
  ]).join(';');
