/** Finds what networks and pods that are gone have left on a node. Pure: a dry run is all there is to it. */

import { parseAlias } from '../../agent/cni/plumbing.ts';
import { CT_ZONES, networkCtMark } from '../../agent/model/registry/marks.ts';
import { RULE_PRIORITIES, vrfTable } from '../../agent/model/registry/routing.ts';
import type { DifferenceStatus, NetworkStatus, PodStatus } from '../../api/agent-status.ts';
import { VRF_ALIAS } from '../../datapath/host/ownership.ts';
import type { KernelOp } from '../../datapath/netlink/kernel/types.ts';
import type { Link } from '../../datapath/netlink/link/types.ts';
import { isOurs } from '../../datapath/netlink/pod-interface/marks.ts';
import { OUR_PROTOCOL, type Route, routeKey } from '../../datapath/netlink/route/types.ts';
import { type Rule, ruleText } from '../../datapath/netlink/rule/types.ts';
import { MAX_NETWORKS, parseNetworkId } from '../../net/ids.ts';

/** The state of the node, read before the agent is asked for the desired state. */
export interface NodeState {
  /** Ports of pods on br-int. */
  readonly podPorts: readonly PodPort[];
  readonly links: readonly Link[];
  readonly rules: readonly Rule[];
  readonly routes: readonly Route[];
  /** Marks of connections that the datapath remembers in the gateway bridge's zone. */
  /** Mark, and how many connections have it. */
  readonly conntrackMarks: readonly (readonly [number, number])[];
}

export interface PodPort {
  readonly uuid: string;
  readonly name: string;
  readonly podUid: string;
  readonly logicalPort: string;
}

/** The desired state, as the agent reports it. */
export interface Desired {
  readonly networks: readonly Pick<NetworkStatus, 'id'>[];
  readonly pods: readonly Pick<PodStatus, 'uid'>[];
  readonly differences: readonly DifferenceStatus[];
}

export interface Leftover {
  /** As the agent calls it, so that nothing is listed twice. */
  readonly key: string;
  readonly what: string;
  readonly why: string;
  readonly remedy: Remedy;
  /** The agent knows of it and is about to remove it: nothing has hindered it yet. */
  readonly isUnderway: boolean;
}

type Found = Omit<Leftover, 'isUnderway'>;

export type Remedy =
  | { readonly by: 'unplug'; readonly port: string }
  | { readonly by: 'kernel'; readonly op: KernelOp }
  | { readonly by: 'conntrack'; readonly zone: number; readonly mark: number }
  /** Only the agent can. */
  | { readonly by: 'agent' };

export const findLeftovers = (state: NodeState, desired: Desired): Leftover[] => {
  const pods = new Set(desired.pods.map(({ uid }) => uid));
  const networks = new Set(desired.networks.map(({ id }) => id));
  const found = [
    ...portLeftovers(state, pods),
    ...linkLeftovers(state, pods),
    ...networkLeftovers(state, networks),
    ...markLeftovers(state, networks),
  ];
  const known = new Set(found.map(({ key }) => key));
  const underway = new Set(stale(desired).flatMap(({ key, problem }) => (problem === undefined ? [key] : [])));
  return [...found, ...agentLeftovers(desired).filter(({ key }) => !known.has(key))].map((one) => ({
    ...one,
    isUnderway: underway.has(one.key),
  }));
};

const stale = ({ differences }: Desired): readonly DifferenceStatus[] =>
  differences.filter(({ kind }) => kind === 'unwanted');

const portLeftovers = ({ podPorts }: NodeState, pods: ReadonlySet<string>): Found[] =>
  podPorts
    .filter(({ podUid }) => !pods.has(podUid))
    .map(({ uuid, name, podUid, logicalPort }) => ({
      key: `port ${name}`,
      what: `OVS port ${name} (${logicalPort})`,
      why: `the pod with UID ${podUid} is not on this node`,
      remedy: { by: 'unplug', port: uuid },
    }));

/** A link without an alias may be one that is just being made: CNI's garbage collection looks after those. */
const linkLeftovers = ({ links }: NodeState, pods: ReadonlySet<string>): Found[] =>
  links.flatMap((link): Found[] => {
    const owner = isOurs(link) ? parseAlias(link.alias) : undefined;
    if (owner === undefined || pods.has(owner.podUid)) return [];
    const op = { op: 'link.delete', name: link.name } as const;
    return [
      {
        key: `link ${link.name}`,
        what: `link ${link.name} (${owner.interfaceName} of container ${owner.containerId.slice(0, 13)})`,
        why: `the pod with UID ${owner.podUid} is not on this node`,
        remedy: { by: 'kernel', op },
      },
    ];
  });

/** Rules and routes first: what leads to a table that is gone leads on to the next. */
const networkLeftovers = ({ links, rules, routes }: NodeState, networks: ReadonlySet<number>): Found[] => {
  const goneId = (table: number | undefined): number | undefined => {
    const id = table === undefined ? undefined : networkOfTable(table);
    return id === undefined || networks.has(id) ? undefined : id;
  };
  const leftover = (key: string, what: string, id: number, op: KernelOp): Found => ({
    key,
    what,
    why: `no network has id ${id}`,
    remedy: { by: 'kernel', op },
  });
  return [
    ...rules.flatMap((rule) => {
      const id = goneId(rule.table);
      const isOur = rule.priority === RULE_PRIORITIES.network && rule.protocol === OUR_PROTOCOL;
      if (id === undefined || !isOur) return [];
      return [leftover(`rule ${ruleText(rule)}`, `rule ${ruleText(rule)}`, id, { op: 'rule.delete', rule })];
    }),
    ...routes.flatMap((route) => {
      const id = goneId(route.table);
      if (id === undefined || route.protocol !== OUR_PROTOCOL) return [];
      const what = `route ${route.dst} of table ${route.table}`;
      return [leftover(`route ${routeKey(route)}`, what, id, { op: 'route.delete', route })];
    }),
    ...links.flatMap((link) => {
      const id = link.kind === 'vrf' && link.alias === VRF_ALIAS ? goneId(link.vrfTable) : undefined;
      if (id === undefined) return [];
      const what = `VRF ${link.name} (table ${link.vrfTable})`;
      return [leftover(`link ${link.name}`, what, id, { op: 'link.delete', name: link.name })];
    }),
  ];
};

/** The tables from the one of network 1 on are ours. */
const networkOfTable = (table: number): number | undefined => {
  const id = table - vrfTable(parseNetworkId(0));
  return isTenant(id) ? id : undefined;
};

const isTenant = (id: number): boolean => id >= 1 && id < MAX_NETWORKS;

const markLeftovers = ({ conntrackMarks }: NodeState, networks: ReadonlySet<number>): Found[] =>
  conntrackMarks.flatMap(([mark, count]): Found[] => {
    const id = mark - networkCtMark(parseNetworkId(0));
    if (!isTenant(id) || networks.has(id)) return [];
    return [
      {
        key: `conntrack ${mark}`,
        what: `${count} connections with ct mark 0x${mark.toString(16)} in zone ${CT_ZONES.external}`,
        why: `no network has id ${id}`,
        remedy: { by: 'conntrack', zone: CT_ZONES.external, mark },
      },
    ];
  });

const agentLeftovers = (desired: Desired): Found[] =>
  stale(desired).map(({ backend, key, network, problem }) => ({
    key,
    what: `${backend}: ${key}`,
    why: [
      'it is not desired',
      ...(network === undefined ? [] : [`it belonged to network ${network}`]),
      ...(problem === undefined ? [] : [`the agent cannot remove it: ${problem}`]),
    ].join('; '),
    remedy: { by: 'agent' },
  }));
