/** Interfaces that plugins of other networks have made, as elements of network-status: by the results of their ADDs. Pure. */
import { type AttachedNetwork, nadNameOf } from '../../../api/annotations/attached-networks.ts';
import type { CniResult } from '../../../api/cni/result.ts';
import { addressOf, prefixLength } from '../../../net/cidr.ts';
import type { ForeignAttachment } from '../../model/attachments.ts';
import type { MadeAttachment } from '../foreign/foreign-attachments.ts';

/** @param results of these, in their order */
export const foreignNetworks = (
  attachments: readonly Pick<ForeignAttachment, 'nadKey' | 'interfaceName'>[],
  results: readonly CniResult[],
): readonly AttachedNetwork[] =>
  attachments.flatMap(({ nadKey, interfaceName }, index) => {
    const result = results[index];
    return result === undefined ? [] : [foreignNetwork({ nadKey, interfaceName, result })];
  });

/** Addresses and MAC are those of its end in the pod: a plugin may report the bridge of the host as well. */
export const foreignNetwork = ({ nadKey, interfaceName, result }: MadeAttachment): AttachedNetwork => {
  const { interfaces, ips, routes, dns } = result;
  const place = interfaces.findIndex(({ name, sandbox }) => sandbox !== undefined && name === interfaceName);
  const { mac, mtu } = interfaces[place] ?? {};
  const own = ips.filter((ip) => ip.interface === undefined || ip.interface === place);
  const gateway = routes.flatMap(({ dst, gw }) => (gw !== undefined && prefixLength(dst) === 0 ? [gw] : []));
  return {
    ...{ name: nadNameOf(nadKey), interface: interfaceName, ips: own.map(({ address }) => addressOf(address)) },
    ...{ mac, mtu, default: false, dns },
    ...(gateway.length > 0 && { gateway }),
  };
};
