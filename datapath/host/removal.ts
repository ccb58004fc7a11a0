/** Owned state that is not desired. Pure. */
import { parseIp } from '../../net/ip.ts';
import type { KernelOp } from '../netlink/kernel/types.ts';
import type { Situation } from './assessment.ts';
import { isOurAddress, isOurNeighbour, isOurPort, isOurRoute, isOurRule, isOurVrf } from './ownership.ts';
import type { PlanRequest, Step } from './plan.ts';

type Owned = Situation & Pick<PlanRequest, 'remembered'>;

/** None when nothing of ours is there under a key that is not desired. */
export const removalStep = (key: string, owned: Owned): Step[] => {
  const ops = removalOps(key, owned);
  return ops.length === 0 ? [] : [{ key, ops }];
};

/** Keys of what may have to be removed: what is there and ours, and what we remember. */
export const ownedKeys = (owned: Owned): Set<string> => {
  const { mirror, ownership, remembered } = owned;
  const keys = new Set(remembered);
  for (const link of mirror.links.values()) {
    if (isOurVrf(link, ownership)) keys.add(`link ${link.name}`);
    for (const [address, mac] of mirror.neighboursOf(link.name)) {
      const neighbour = { link: link.name, address: parseIp(address), mac };
      if (isOurNeighbour(neighbour, ownership)) keys.add(`neighbour ${link.name} ${address}`);
    }
    if (!isOurPort(link.name)) continue;
    for (const { address } of mirror.addressesOf(link.name)) keys.add(`address ${link.name} ${address}`);
  }
  for (const key of mirror.routes.keys()) keys.add(key);
  for (const key of mirror.rules.keys()) keys.add(key);
  return keys;
};

const removalOps = (key: string, owned: Owned): KernelOp[] => {
  const [kind, link = '', address = ''] = key.split(' ');
  switch (kind) {
    case 'link':
      return linkOps(link, owned);
    case 'address':
      return addressOps(key, link, address, owned);
    case 'route':
      return (owned.mirror.routes.get(key) ?? [])
        .filter((route) => owned.remembered.has(key) || isOurRoute(route, owned.ownership))
        .map((route) => ({ op: 'route.delete', route }));
    case 'rule': {
      const rule = owned.mirror.rules.get(key);
      const isOurs = rule !== undefined && (owned.remembered.has(key) || isOurRule(rule, owned.ownership));
      return isOurs ? [{ op: 'rule.delete', rule }] : [];
    }
    case 'neighbour':
      return neighbourOps(key, link, address, owned);
    case 'filter':
      // Where it has waited for its link since that went (Linux 6.16), too.
      return owned.remembered.has(key) ? [{ op: 'filter.delete', link }] : [];
    default:
      // A setting stays: nobody knows what it was before, and most go with their link.
      return [];
  }
};

/** Only VRFs: other links belong to whoever made them. */
const linkOps = (name: string, { mirror, ownership }: Owned): KernelOp[] => {
  const link = mirror.links.get(name);
  return link !== undefined && isOurVrf(link, ownership) ? [{ op: 'link.delete', name }] : [];
};

const addressOps = (key: string, link: string, text: string, { mirror, remembered }: Owned): KernelOp[] => {
  const address = mirror.address(link, text);
  const isOurs = address !== undefined && (remembered.has(key) || isOurAddress(address));
  return isOurs ? [{ op: 'address.delete', address: { link, address: address.address } }] : [];
};

const neighbourOps = (key: string, link: string, text: string, owned: Owned): KernelOp[] => {
  const mac = owned.mirror.neighbour(link, text);
  if (mac === undefined) return [];
  const address = parseIp(text);
  const isOurs = owned.remembered.has(key) || isOurNeighbour({ link, address, mac }, owned.ownership);
  return isOurs ? [{ op: 'neighbour.delete', neighbour: { link, address } }] : [];
};
