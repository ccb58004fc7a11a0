import type { NetlinkError } from '../errors.ts';
import type { KernelOp } from './types.ts';

/** The one place where a refusal counts as success, because what was desired is so. */
export const isSuccess = (op: KernelOp, { code }: NetlinkError): boolean =>
  (SUCCESS[op.op] ?? []).includes(code) || (op.op === 'sysctl.set' && op.ifPresent === true && code === 'ENOENT');

const SUCCESS: Readonly<Partial<Record<KernelOp['op'], readonly string[]>>> = {
  'link.delete': ['ENODEV'],
  'filter.delete': ['ENOENT'],
  'filter.unshare': ['ENOENT', 'EBUSY'],
  'filter.unlock': ['ENOENT'],
  'filters.clear': ['ENOENT'],
  'link.addrGenMode': ['EAFNOSUPPORT'],
  'address.delete': ['EADDRNOTAVAIL', 'ENODEV'],
  'rule.put': ['EEXIST'],
  'rule.delete': ['ENOENT'],
  'neighbour.delete': ['ENOENT', 'ENODEV'],
  'route.delete': ['ESRCH', 'ENOENT', 'ENODEV'],
};
