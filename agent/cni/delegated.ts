/**
 * Which of a pod's attachments a call is about where Multus calls for each (`--multi-network=delegated`): without the name of a NAD for the
 * default network and the primary one, with it for the one that the pod selects by that NAD as that interface. Pure.
 */
import { CniError } from '../../api/cni/error.ts';
import type { AttachmentRequest } from '../../api/cni/request.ts';
import { DEFAULT_INTERFACE } from '../../api/names.ts';
import { type Attachment, nadOf, type PodAttachments } from '../model/attachments.ts';
import type { MultiNetwork } from '../model/view.ts';
import type { Plumbing } from './plumbing.ts';

/** @throws CniError when the call is not one of this mode, or has a name of the interface that is not the caller's to choose */
export const refuseCall = ({ config, ifName }: AttachmentRequest, multiNetwork: MultiNetwork): void => {
  const { netAttachDefName: nad } = config;
  if (nad !== undefined && multiNetwork === 'native') {
    const message = `${nad} as ${ifName}: the agent of this node makes all attachments of a pod by one ADD (--multi-network=native)`;
    const details = 'for Multus, set --multi-network=delegated';
    throw new CniError('invalidConfig', message, { field: 'netAttachDefName', details });
  }
  // Kubernetes looks for the default network's interface by its name.
  if (nad === undefined && ifName !== DEFAULT_INTERFACE) {
    throw new CniError('invalidEnvironment', `CNI_IFNAME must be ${DEFAULT_INTERFACE}, not ${ifName}`, {
      field: 'CNI_IFNAME',
    });
  }
};

/** @param all of the pod, in the order of its attachments @throws CniError when the pod selects no such network */
export const partOf = (
  all: Plumbing,
  { attachments }: PodAttachments,
  { config: { netAttachDefName: nad }, ifName }: Pick<AttachmentRequest, 'config' | 'ifName'>,
): Plumbing => {
  const isMeant = ({ selection, interfaceName }: Attachment): boolean =>
    nad === undefined
      ? selection === undefined
      : selection !== undefined && nadOf(selection) === nad && interfaceName === ifName;
  const names = new Set(attachments.filter(isMeant).map(({ interfaceName }) => interfaceName));
  // One that waits has none yet, and says so itself.
  if (names.size === 0 && attachments.length > 0)
    throw new CniError('invalidConfig', `the pod does not select ${nad} as ${ifName}`, { field: 'netAttachDefName' });
  return partNamed(all, names);
};

const partNamed = ({ network, ports, result }: Plumbing, names: ReadonlySet<string>): Plumbing => {
  const hostNames = new Set(ports.flatMap((port) => (names.has(port.interfaceName) ? [port.name] : [])));
  const kept = result.interfaces.map(({ name, sandbox }) => (sandbox === undefined ? hostNames : names).has(name));
  const place = (index: number): number => kept.slice(0, index).filter(Boolean).length;
  return {
    network: { ...network, interfaces: network.interfaces.filter(({ name }) => names.has(name)) },
    ports: ports.filter(({ name }) => hostNames.has(name)),
    result: {
      ...result,
      interfaces: result.interfaces.filter((_, index) => kept[index]),
      ips: result.ips.flatMap((ip) =>
        ip.interface !== undefined && kept[ip.interface] ? [{ ...ip, interface: place(ip.interface) }] : [],
      ),
    },
  };
};
