/** What an operation needs of whoever applies it. */
import type { KernelOp } from './types.ts';

/** The link whose index a request needs. */
export const linkOf = (op: KernelOp): string | undefined => {
  if ('address' in op) return op.address.link;
  if ('route' in op) return op.route.dev;
  if ('neighbour' in op) return op.neighbour.link;
  return op.op === 'link.set' ? (op.change.master ?? undefined) : undefined;
};

/** After it, a name may stand for another link, or for none. */
export const changesLinks = ({ op }: KernelOp): boolean =>
  op === 'link.add' || op === 'master.add' || op === 'link.delete';

/** Operations that are not rtnetlink requests. */
export type DirectOp = Extract<KernelOp, { op: (typeof DIRECT)[number] }>;

const DIRECT = [
  'sysctl.set',
  'link.txChecksum',
  'filter.put',
  'filter.delete',
  'filter.unshare',
  'filter.unlock',
  'filters.clear',
] as const;

export const isDirect = (op: KernelOp): op is DirectOp => DIRECT.some((direct) => direct === op.op);
