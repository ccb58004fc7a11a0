/** Does what a plan says. One refused step stops no other: then the bundle is taken apart until it is found. */
import { isRefusal, type LiveBridge } from './live-bridge.ts';
import type { Plan } from './plan.ts';
import type { BundleOp } from './switch-client.ts';
import type { Wants } from './wants.ts';

export interface WriteResult {
  readonly written: number;
  readonly failed: ReadonlyMap<string, string>;
}

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const writePlan = async (
  live: LiveBridge,
  wants: Wants,
  bridge: string,
  { bundle, ports }: Plan,
  signal: AbortSignal,
): Promise<WriteResult> => {
  const failed = new Map<string, string>();
  let written = await writeBundle(live, bundle, signal, (op, reason) => failed.set(keyOf(wants, bridge, op), reason));
  for (const { port, noFlood } of ports) {
    try {
      await live.setNoFlood(port, noFlood, signal);
      written++;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failed.set(wants.keyOfPort(bridge, port) ?? `port ${bridge} ${port}`, (error as Error).message);
    }
  }
  // What was thought to be there is not: the next time is to begin with reading.
  if (failed.size > 0) live.distrust();
  return { written, failed };
};

/** @returns how many steps were done */
const writeBundle = async (
  live: LiveBridge,
  ops: readonly BundleOp[],
  signal: AbortSignal,
  refused: (op: BundleOp, reason: string) => void,
): Promise<number> => {
  const [first] = ops;
  if (first === undefined) return 0;
  try {
    await live.write(ops, signal);
    return ops.length;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (ops.length === 1) {
      refused(first, (error as Error).message);
      return 0;
    }
  }
  // In order, since later steps may need earlier ones.
  const middle = ops.length >> 1;
  const before = await writeBundle(live, ops.slice(0, middle), signal, refused);
  return before + (await writeBundle(live, ops.slice(middle), signal, refused));
};

const keyOf = (wants: Wants, bridge: string, op: BundleOp): string => {
  switch (op.op) {
    case 'addFlow':
      return wants.keyOfFlow(bridge, op.flow.identity) ?? `flow ${bridge} ${op.flow.identity}`;
    case 'deleteFlow':
      return `flow ${bridge} ${op.identity}`;
    case 'insertBucket':
    case 'removeBucket':
      return wants.keyOfBucket(bridge, op.group, op.bucket) ?? `bucket ${bridge} ${op.group} ${op.bucket}`;
    default:
      return wants.keyOfGroup(bridge, op.group) ?? `group ${bridge} ${op.group}`;
  }
};
