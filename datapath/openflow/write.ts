/** Does what a plan says. One refused step stops no other: then the bundle is taken apart until it is found. */
import type { EarlyBundle } from './early-bundle.ts';
import { isRefusal, type LiveBridge } from './live-bridge.ts';
import type { Plan } from './plan.ts';
import type { BundleOp } from './switch-client.ts';
import type { Wants } from './wants.ts';

export interface WriteResult {
  readonly written: number;
  /** Of what was written; undefined: it is too much to be named. */
  readonly writtenKeys: ReadonlySet<string> | undefined;
  readonly failed: ReadonlyMap<string, string>;
  /** For ports that went meanwhile, which will be reported. */
  readonly waiting: ReadonlyMap<string, string>;
}

/** @throws OpenflowError ERR_OPENFLOW_UNREACHABLE */
export const writePlan = async (
  live: LiveBridge,
  wants: Wants,
  bridge: string,
  { bundle, ports }: Plan,
  signal: AbortSignal,
  early?: EarlyBundle,
): Promise<WriteResult> => {
  const failed = new Map<string, string>();
  const waiting = new Map<string, string>();
  const keyOfPort = (port: number): string => wants.keyOfPort(bridge, port) ?? `port ${bridge} ${port}`;
  const refused = (op: BundleOp, reason: string): void => void failed.set(keyOf(wants, bridge, op), reason);
  // Beside each other: neither needs the other.
  const both = await Promise.allSettled([
    writeBundle(live, bundle, signal, refused, early),
    writePorts(live, ports, signal, {
      gone: (port) => waiting.set(keyOfPort(port), `port ${port} is not on bridge ${bridge}`),
      refused: (port, reason) => failed.set(keyOfPort(port), reason),
    }),
  ]);
  let written = 0;
  for (const one of both) {
    if (one.status === 'rejected') throw one.reason;
    written += one.value;
  }
  // What was thought to be there is not: the next time is to begin with reading.
  if (failed.size > 0) live.distrust();
  return { written, writtenKeys: keysOf(wants, bridge, { bundle, ports }, [failed, waiting]), failed, waiting };
};

/** Floods that reach a port again have no key: they were left for a full look by ourselves (`Wants.#release`). */
const keysOf = (
  wants: Wants,
  bridge: string,
  { bundle, ports }: Plan,
  except: readonly ReadonlyMap<string, string>[],
): ReadonlySet<string> | undefined => {
  if (bundle.length + ports.size > MAX_NAMED) return undefined;
  const portKeys = [...ports.keys()].flatMap((port) => wants.keyOfPort(bridge, port) ?? []);
  const keys = [...bundle.map((op) => keyOf(wants, bridge, op)), ...portKeys];
  return new Set(keys.filter((key) => !except.some((left) => left.has(key))));
};

/** At a start there are tens of thousands of flows, which nobody asks about. */
const MAX_NAMED = 100;

interface PortListener {
  gone(port: number): void;
  refused(port: number, reason: string): void;
}

/** @returns how many were set */
const writePorts = async (
  live: LiveBridge,
  ports: Plan['ports'],
  signal: AbortSignal,
  notify: PortListener,
): Promise<number> => {
  if (ports.size === 0) return 0;
  const { gone, refused } = await live.setNoFlood(ports, signal);
  for (const port of gone) if (ports.get(port) === true) notify.gone(port);
  for (const [port, reason] of refused) notify.refused(port, reason);
  return ports.size - gone.size - refused.size;
};

/** @returns how many steps were done */
const writeBundle = async (
  live: LiveBridge,
  ops: readonly BundleOp[],
  signal: AbortSignal,
  refused: (op: BundleOp, reason: string) => void,
  early?: EarlyBundle,
): Promise<number> => {
  const [first] = ops;
  if (first === undefined) return 0;
  try {
    await live.write(ops, signal, early);
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
