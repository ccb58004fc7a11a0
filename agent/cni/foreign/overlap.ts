/** Networks of one pod with the same addresses, as far as only the result of a plugin shows them. Pure. */
import type { CniResult } from '../../../api/cni/result.ts';
import { addressOf, type Cidr, cidrsOverlap, networkOfInterface } from '../../../net/cidr.ts';
import { isLinkLocal6 } from '../../../net/ip.ts';
import type { Attachment } from '../../model/attachments.ts';
import { rangesOf } from '../../model/attachments.ts';
import { addressesInPod } from './default-route.ts';
import type { AttachmentRecord } from './record.ts';

export interface TakenRange {
  readonly range: Cidr;
  /** For people. */
  readonly network: string;
  /** Of another plugin: a pod may be on the same one twice. */
  readonly isForeign: boolean;
}

/** What a pod has by networks of ours. */
export const rangesOfOurs = (attachments: readonly Pick<Attachment, 'network'>[]): TakenRange[] =>
  attachments.flatMap(({ network }) =>
    rangesOf(network).map((range) => ({ range, network: network.name, isForeign: false })),
  );

/** Link-local addresses are of each link alone. */
export const rangesOfResult = ({ network, ifName }: AttachmentRecord, result: CniResult): TakenRange[] =>
  addressesInPod(result, ifName)
    .filter((address) => !isLinkLocal6(addressOf(address)))
    .map((address) => ({ range: networkOfInterface(address), network, isForeign: true }));

/**
 * Why a pod cannot have what a plugin has given it, without a full stop: a pod routes by destination, and of two networks with the same addresses
 * it reaches one.
 * @param taken by its other networks
 */
export const overlapWith = (own: readonly TakenRange[], taken: readonly TakenRange[]): string | undefined => {
  for (const { range, network } of own) {
    const other = taken.find((one) => !(one.isForeign && one.network === network) && cidrsOverlap(one.range, range));
    if (other !== undefined)
      return `${range}, which the plugin has given of network ${network}, overlaps ${other.range} of network ${other.network}: a pod reaches only one of them`;
  }
  return undefined;
};
