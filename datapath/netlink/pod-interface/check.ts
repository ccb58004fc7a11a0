import { PodInterfaceError } from '../errors.ts';
import type { Kernel, PodOp } from '../kernel/types.ts';
import { type ObservedPod, observePod } from './observe.ts';
import { planPod, type Stage } from './plan.ts';
import { requireNetns } from './require-netns.ts';
import type { PodNetwork } from './types.ts';
import { validatePod } from './validate.ts';

/** What is not as desired, one message each. */
export const checkPod = (kernel: Kernel, pod: PodNetwork): string[] => {
  validatePod(pod);
  try {
    requireNetns(kernel, pod.netns);
    return differences(planPod(pod, withoutMore(pod, observePod(kernel, pod))));
  } catch (error) {
    if (error instanceof PodInterfaceError) return [error.message];
    throw error;
  }
};

/** Addresses that no owner desires are no difference, but a plan would put all others again after it has removed them. */
const withoutMore = ({ interfaces: desired }: PodNetwork, { interfaces, ...observed }: ObservedPod): ObservedPod => {
  const all = desired.flatMap(({ addresses }) => addresses);
  const entries = [...interfaces].map(
    ([name, seen]) =>
      [name, { ...seen, addresses: seen.addresses.filter(({ address }) => all.includes(address)) }] as const,
  );
  return { ...observed, interfaces: new Map(entries) };
};

/** What a plan would change, in words. A pair that is to be recreated is one difference, not one per setting of it. */
export const differences = (stages: readonly Stage[]): string[] => {
  const all = stages.flatMap(({ ops }) => ops);
  const made = new Set(all.flatMap((op) => (op.op === 'link.add' ? [op.link.name, op.link.peer.name] : [])));
  return all.flatMap((op) => (op.op !== 'link.add' && made.has(linkOf(op)) ? [] : needOf(op)));
};

const linkOf = (op: Exclude<PodOp, { op: 'link.add' }>): string => {
  switch (op.op) {
    case 'address.put':
    case 'address.delete':
      return op.address.link;
    case 'route.put':
    case 'route.delete':
      return op.route.dev ?? '';
    case 'filter.put':
      return op.filter.link;
    case 'filter.delete':
      return op.link;
    case 'sysctl.set':
      return op.key.split('/')[2] ?? '';
    default:
      return op.name;
  }
};

/** None for more than was desired. */
const needOf = (op: PodOp): string[] => {
  switch (op.op) {
    case 'link.add':
      return [`${op.link.peer.name} is missing, or is not the other end of ${op.link.name}`];
    case 'link.set':
      return Object.entries(op.change).map(([key, value]) => `${op.name} should have ${key} ${value}`);
    case 'link.addrGenMode':
      return [`${op.name} should have IPv6 address generation ${op.mode}`];
    case 'link.txChecksum':
      return [`${op.name} should have checksum offload ${op.on ? 'on' : 'off'}`];
    case 'address.put':
      return [`${op.address.link} should have address ${op.address.address}`];
    case 'route.put':
      return [`${op.route.dev} should have a route to ${op.route.dst}${viaWords(op.route.via)}`];
    case 'sysctl.set':
      return [`${op.key} should be ${op.value}`];
    case 'filter.put':
      return [`${op.filter.link} should have another frame filter`];
    case 'link.delete':
    case 'filter.delete':
    case 'address.delete':
    case 'route.delete':
      return [];
  }
};

const viaWords = (via: string | undefined): string => (via === undefined ? '' : ` via ${via}`);
