import type { KernelOp } from './types.ts';

/** So many filters fit into one write, which the kernel takes whole or not at all (net/netlink/af_netlink.c, netlink_sendmsg). */
const MAX_FILTERS = 16;

/** Operations in order, one by one, but filters that follow each other together: one transaction takes nearly as long as many. */
export const runsOf = (ops: readonly KernelOp[]): KernelOp[][] => {
  const runs: KernelOp[][] = [];
  for (const op of ops) {
    const last = runs.at(-1);
    if (last !== undefined && last.length < MAX_FILTERS && isPlainPut(op) && last.every(isPlainPut)) last.push(op);
    else runs.push([op]);
  }
  return runs;
};

const isPlainPut = (op: KernelOp): boolean => op.op === 'filter.put' && op.withShared !== true;
