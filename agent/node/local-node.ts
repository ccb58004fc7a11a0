/** What this node is, before anything is programmed: its Node object and its OVS must say so. */
import { abortable } from '../../base/abort.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import type { Ip } from '../../net/ip.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';

export interface LocalNode {
  readonly name: string;
  /** `external_ids:system-id` of Open_vSwitch: the name of the node's chassis. */
  readonly chassisId: string;
  readonly encapIps: readonly Ip[];
}

export interface LocalNodeOptions {
  readonly name: string;
  /**
   * Empty: the first of the node's internal addresses. Not one per family: ovn-controller makes a tunnel from each address
   * of a node to each of another's, and those from one family to the other are errors (ovn-controller(8), ovn-encap-ip).
   */
  readonly encapIps: readonly Ip[];
  readonly nodes: ObjectCache<NodeProjection>;
  readonly vswitch: VswitchReplica;
  /** Called with what the start waits for. */
  readonly waiting: (message: string) => void;
}

/** Waits, by event, until both are there. @throws the signal's reason */
export const awaitLocalNode = async (options: LocalNodeOptions, signal: AbortSignal): Promise<LocalNode> => {
  const [encapIps, chassisId] = await Promise.all([awaitEncapIps(options, signal), awaitChassisId(options, signal)]);
  return { name: options.name, chassisId, encapIps };
};

/** Where tunnels end when nobody says it: empty while the Node has no internal address. */
export const encapIpsOf = (node: NodeProjection | undefined): readonly Ip[] => node?.internalIps.slice(0, 1) ?? [];

const awaitEncapIps = async (
  { name, encapIps, nodes, waiting }: LocalNodeOptions,
  signal: AbortSignal,
): Promise<readonly Ip[]> => {
  if (encapIps.length > 0) return encapIps;
  if (nodes.get(name) === undefined) waiting(`Node ${name} to be registered with an internal address`);
  return await abortable(signal, (resolve) =>
    nodes.subscribe(({ key, after }) => {
      const found = key === name ? encapIpsOf(after) : [];
      if (found.length > 0) resolve(found);
    }),
  );
};

const awaitChassisId = async ({ vswitch, waiting }: LocalNodeOptions, signal: AbortSignal): Promise<string> => {
  await vswitch.whenSynced(signal);
  waiting('external_ids:system-id in the Open_vSwitch database');
  return await abortable(signal, (resolve) => {
    const look = (): void => {
      const [row] = vswitch.rows('Open_vSwitch');
      const id = row?.external_ids['system-id'];
      if (id !== undefined && id !== '') resolve(id);
    };
    look();
    return vswitch.onUpdate(look);
  });
};
