/**
 * What keeps networks apart, by class. Where a part of it is missing or is not as desired, something may get across until the agent
 * has repaired it: that is no ordinary difference. The agent is asked, so this sees what differs on the node itself.
 */
import { FLOW_REGISTERS } from '../../agent/model/registry/openflow.ts';
import { ROUTER_POLICY_PRIORITIES } from '../../agent/model/registry/router-policies.ts';
import type { DifferenceStatus, DifferencesStatus } from '../../api/agent-status.ts';
import { isGuardingName } from './guarding-names.ts';

export interface Guard {
  readonly name: string;
  /** What may happen without it: `processes of the node reach pods of tenants`. */
  readonly without: string;
  readonly has: (part: GuardPart) => boolean;
}

type GuardPart = Pick<DifferenceStatus, 'backend' | 'key' | 'wanted' | 'actual'> & {
  readonly owners: readonly string[];
};

export const GUARDS: readonly Guard[] = [
  {
    name: 'host isolation',
    without: 'processes of the node reach pods of tenants',
    has: (part) => part.backend === 'nftables' && isOf(part, 'host-isolation'),
  },
  {
    name: 'the host’s filters',
    without: 'the host forwards traffic that networks may not send or receive',
    has: (part) => part.backend === 'nftables' && (isGuardingName(part.key) || /\bdrop\b/.test(textOf(part))),
  },
  {
    name: 'the gateway bridge',
    without: 'traffic with foreign addresses leaves or enters a network',
    has: (part) => part.backend === 'openflow' && (part.key.startsWith('no-flood ') || DROPS.test(textOf(part))),
  },
  {
    name: 'locked default interfaces',
    without: 'pods of tenants are reachable on the default network',
    has: (part) => part.backend === 'northbound' && isOf(part, 'isolation'),
  },
  {
    name: 'network policies',
    without: 'pods send or receive what network policies deny',
    has: (part) =>
      isRow(part, 'ACL', 'Port_Group') &&
      (isOf(part, 'policy-deny') || (isOf(part, 'pods') && isRow(part, 'Port_Group'))),
  },
  {
    name: 'ACLs',
    without: 'pods answer as servers of their network',
    // What a rule of network policies does not allow is denied.
    has: (part) => isRow(part, 'ACL') && !isOf(part, 'policy-rules'),
  },
  {
    name: 'drops of routers',
    without: 'pods send as the management port of their network, and reach ports of pods as the gateway router',
    has: (part) => isRow(part, 'Logical_Router_Policy') && (isDropPolicy(part.key) || /\bdrop\b/.test(textOf(part))),
  },
  {
    name: 'translations of routers',
    without:
      'traffic of a network leaves the node with addresses of its pods, which may overlap with those of other networks',
    has: (part) => isRow(part, 'NAT'),
  },
  {
    name: 'limits of networks',
    without: 'one network can exhaust shared resources: conntrack, or the CPU time of ovn-controller',
    has: (part) => isRow(part, 'Copp', 'Meter', 'Meter_Band') || changesZoneLimit(part),
  },
  {
    name: 'port security',
    without: 'a pod sends with addresses that are not its own',
    has: (part) => isRow(part, 'Logical_Switch_Port') && isOf(part, 'pods'),
  },
  {
    name: 'routes that end',
    without: 'traffic without a route in a VRF or a router follows the route of another network',
    has: (part) =>
      (part.backend === 'host' && /\bunreachable\b/.test(textOf(part))) ||
      (isRow(part, 'Logical_Router_Static_Route') && /\bdiscard\b/.test(textOf(part))),
  },
  {
    name: 'frame filters',
    without: 'a pod receives broadcasts of others on the default network',
    has: (part) => part.backend === 'host' && part.key.startsWith('frame-filter '),
  },
  {
    name: 'filters of the host’s ports',
    without: 'packet sockets on the node send into networks',
    has: (part) => part.backend === 'host' && part.key.startsWith('filter '),
  },
  {
    name: 'settings of links',
    without: 'pods change the host’s routes',
    has: (part) => part.backend === 'host' && /accept_ra|accept_redirects|l3mdev_accept/.test(textOf(part)),
  },
];

export interface OpenGuard {
  readonly guard: string;
  readonly key: string;
  readonly why: string;
}

/** In the order of the classes. What is no longer desired guards nothing. */
export const openGuards = ({ differences, unsupported }: DifferencesStatus): OpenGuard[] => {
  const open = [
    ...differences
      .filter(({ kind }) => kind !== 'unwanted')
      .map((one) => ({ one, why: one.problem ?? (one.kind === 'missing' ? 'is missing' : 'is not as desired') })),
    ...unsupported.map((one) => ({ one: { ...one, owners: [] }, why: `not supported here: ${one.message}` })),
  ];
  return GUARDS.flatMap(({ name, without }) =>
    open
      .filter(({ one }) => guardOf(one)?.name === name)
      .map(({ one, why }) => ({
        guard: name,
        key: `${one.backend}: ${one.key}`,
        why: `${why}; until then ${without}`,
      })),
  );
};

/** The first that has it. */
export const guardOf = (part: GuardPart): Guard | undefined => GUARDS.find(({ has }) => has(part));

const isOf = ({ owners }: GuardPart, feature: string): boolean =>
  owners.some((owner) => owner.startsWith(`${feature}:`));

const isRow = ({ backend, key }: GuardPart, ...tables: readonly string[]): boolean =>
  backend === 'northbound' && tables.includes(key.split('/', 1)[0] ?? '');

/**
 * With `conj_id=` in its match a flow drops what all clauses match; without one of its clauses, nothing (ovs-fields(7)). Drops for all
 * networks go by the register that says who sends: without the flow that sets it, a network is none.
 */
const DROPS = new RegExp(`\\bactions=(drop\\b|conjunction\\()|\\bconj_id=|->${FLOW_REGISTERS.sender}\\b`);

/** A row that is there and different says only what differs. */
const isDropPolicy = (key: string): boolean => DROP_POLICIES.has(key.split('/')[2] ?? '');

const DROP_POLICIES: ReadonlySet<string> = new Set(
  (['groupFrame', 'managementSource', 'hostPorts'] as const).map((name) =>
    String(ROUTER_POLICY_PRIORITIES[name].priority),
  ),
);

/** Of a router, a switch or a port, which have other options too. */
const changesZoneLimit = ({ backend, wanted, actual }: GuardPart): boolean => {
  const limit = backend === 'northbound' ? ZONE_LIMIT.exec(wanted ?? '')?.[0] : undefined;
  return limit !== undefined && actual?.includes(limit) !== true;
};

const ZONE_LIMIT = /"ovn-udn\/connections":"[0-9]+"/;

const textOf = ({ key, wanted = '' }: GuardPart): string => `${key} ${wanted}`;
