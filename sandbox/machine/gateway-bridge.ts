/**
 * Keeps br-ex configured as a provisioner does: the node's addresses and default routes are on it. The userspace datapath
 * loses the device with ovs-vswitchd, so it is configured again whenever it comes back.
 */
import { type Datapath, identityArguments, provisionArguments } from '../plan/bridge.ts';
import { GATEWAY_BRIDGE, nodeBatch, plainHostBatch, UPLINK } from '../plan/links.ts';
import type { HostPlan, NetPlan } from '../plan/netplan.ts';
import type { SandboxOptions } from '../plan/options.ts';
import { NO_UPLINK_GUARD, UPLINK_GUARD } from '../plan/userspace.ts';
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
  void watchLink(spec, GATEWAY_BRIDGE, async ({ isDeleted }) => {
    if (!isDeleted) await configure();
  });
  await run(spec.node.enter(['ovs-vsctl', ...provisionArguments(spec.host, spec.datapath)]), undefined, signal);
  await configure();
};

/** Once more, after the node has booted: what keeps it goes on. */
export const provisionAgain = async (
  spec: GatewayBridgeSpec & { readonly uplink: SandboxOptions['uplink'] },
  signal: AbortSignal,
): Promise<void> => {
  if (spec.uplink === 'nic') return await configurePlainUplink(spec, signal);
  await run(spec.node.enter(['ovs-vsctl', ...provisionArguments(spec.host, spec.datapath)]), undefined, signal);
  await bridgeConfigurer(spec)();
};

/** Leaves the node's addresses on its NIC, for an agent that makes a bridge of it. */
export const keepPlainUplink = async (spec: GatewayBridgeSpec, signal: AbortSignal): Promise<void> => {
  if (spec.datapath === 'netdev') void watchLink(spec, AGENT_BRIDGE, guardWhile(spec));
  await configurePlainUplink(spec, signal);
};

/** The same on a node without OVS: what brings it gives the node its identity, too. */
export const keepUplinkWithoutOvs = async (spec: GatewayBridgeSpec, signal: AbortSignal): Promise<void> => {
  if (spec.datapath === 'netdev') void watchLink(spec, AGENT_BRIDGE, guardWhile(spec));
  await configureUplink(spec, signal);
};

const configurePlainUplink = async (spec: GatewayBridgeSpec, signal: AbortSignal): Promise<void> => {
  const { node, host, datapath } = spec;
  await run(node.enter(['ovs-vsctl', ...identityArguments(host, datapath)]), undefined, signal);
  await configureUplink(spec, signal);
};

const configureUplink = async ({ node, plan, host }: GatewayBridgeSpec, signal: AbortSignal): Promise<void> => {
  await run(node.enter(['ip', '-batch', '-']), plainHostBatch(plan, host), signal);
};

/** What an agent calls the bridge that it makes of the uplink. */
const AGENT_BRIDGE = `br${UPLINK}`;

/** Frames of the uplink belong to the bridge as long as there is one. */
const guardWhile =
  ({ node }: GatewayBridgeSpec) =>
  async (event: LinkEvent): Promise<void> => {
    await run(node.enter(['nft', '-f', '-']), event.isDeleted ? NO_UPLINK_GUARD : UPLINK_GUARD);
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

/** Reports when a link of this name comes and goes; not what else changes of it. */
const watchLink = async (
  { node, onError, lifetime }: GatewayBridgeSpec,
  name: string,
  onEvent: (event: LinkEvent) => Promise<void>,
): Promise<void> => {
  let index: number | undefined;
  while (!lifetime.aborted) {
    try {
      for await (const line of linesOf(node.enter(['ip', '-o', 'monitor', 'link']), lifetime)) {
        const event = parseLinkEvent(line);
        const now = event?.isDeleted === true ? undefined : event?.index;
        if (event?.name !== name || now === index) continue;
        index = now;
        await onEvent(event).catch(onError);
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
