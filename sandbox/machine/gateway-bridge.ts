/**
 * Keeps br-ex configured as a provisioner does: the node's addresses and default routes are on it. The userspace datapath
 * loses the device with ovs-vswitchd, so it is configured again whenever it comes back.
 */
import { type Datapath, provisionArguments } from '../plan/bridge.ts';
import { GATEWAY_BRIDGE, nodeBatch } from '../plan/links.ts';
import type { HostPlan, NetPlan } from '../plan/netplan.ts';
import { linesOf, run } from '../process/run.ts';
import type { Machine } from './types.ts';

export interface GatewayBridgeSpec {
  readonly node: Machine;
  readonly plan: NetPlan;
  readonly host: HostPlan;
  readonly datapath: Datapath;
  readonly onError: (error: unknown) => void;
  /** Until when it is kept. */
  readonly lifetime: AbortSignal;
}

/** Makes br-ex; resolves when it has its addresses. `signal` ends the waiting for that. */
export const keepGatewayBridge = async (spec: GatewayBridgeSpec, signal: AbortSignal): Promise<void> => {
  const configure = bridgeConfigurer(spec);
  void watchLinks(spec, configure);
  await run(spec.node.enter(['ovs-vsctl', ...provisionArguments(spec.host, spec.datapath)]), undefined, signal);
  await configure();
};

/** One at a time: a batch that is under way does not see a device that comes while it runs. */
const bridgeConfigurer = ({ node, plan, host }: GatewayBridgeSpec): (() => Promise<void>) => {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const next = last.then(() => run(node.enter(['ip', '-batch', '-']), nodeBatch(plan, host)));
    last = next.catch(() => {});
    await next;
  };
};

const watchLinks = async (
  { node, onError, lifetime }: GatewayBridgeSpec,
  configure: () => Promise<void>,
): Promise<void> => {
  let index: number | undefined;
  while (!lifetime.aborted) {
    try {
      for await (const line of linesOf(node.enter(['ip', '-o', 'monitor', 'link']), lifetime)) {
        const event = parseLinkEvent(line);
        if (event?.name !== GATEWAY_BRIDGE || event.isDeleted || event.index === index) continue;
        index = event.index;
        await configure().catch(onError);
      }
    } catch (error) {
      if (!lifetime.aborted) onError(error);
    }
    if (await hasEnded(node)) return;
  }
};

const hasEnded = (node: Machine): Promise<boolean> =>
  Promise.race([node.ended.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, 100, false))]);

export interface LinkEvent {
  readonly index: number;
  readonly name: string;
  readonly isDeleted: boolean;
}

/** A line of `ip -o monitor link`, for example `5: br-ex: <BROADCAST,UP> mtu 1500 …` or `Deleted 5: br-ex: …`. */
export const parseLinkEvent = (line: string): LinkEvent | undefined => {
  const [, deleted, index, name] = /^(Deleted )?(\d+): ([^:@ ]+)[:@]/.exec(line) ?? [];
  return name === undefined ? undefined : { index: Number(index), name, isDeleted: deleted !== undefined };
};
