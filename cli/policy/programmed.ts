/**
 * What the rows of the northbound database let through, read without the agent's help: so that what it means to have programmed can be
 * compared with what is.
 */
import type { PolicyEndStatus } from '../../api/policy-status.ts';
import type { Ip } from '../../net/ip.ts';
import { both, EVERYTHING, merged, type Ports, without } from '../../net/port-regions.ts';
import type { Transact } from '../flows/datapaths.ts';
import { type Row, setOf, uuidOf } from '../node/wire-values.ts';
import { isAboutAddresses, parseRuleMatch, type RuleMatch, termHas } from './acl-match.ts';

export interface Programmed {
  /** @param port of the pod in OVN @param ips of both ends, of one family; undefined: the pod has no port there */
  lets(direction: PolicyEndStatus['direction'], port: string, ips: PairOfIps): readonly Ports[] | undefined;
  /** ACLs where ports that were asked about are, and that this cannot read: what they do is not in the answers. */
  unread(): readonly string[];
}

export interface PairOfIps {
  readonly own: Ip;
  readonly peer: Ip;
}

export const readProgrammed = async (northbound: Transact): Promise<Programmed> => {
  const [ports, groups, acls, switches, sets] = await northbound([
    { op: 'select', table: 'Logical_Switch_Port', where: [], columns: ['_uuid', 'name'] },
    { op: 'select', table: 'Port_Group', where: [], columns: ['ports', 'acls'] },
    { op: 'select', table: 'ACL', where: [], columns: ['_uuid', 'direction', 'action', 'priority', 'tier', 'match'] },
    { op: 'select', table: 'Logical_Switch', where: [], columns: ['ports', 'acls'] },
    { op: 'select', table: 'Address_Set', where: [], columns: ['name', 'addresses'] },
  ]);
  const byUuid = new Map((acls?.rows ?? []).flatMap(ofPolicies).map((acl) => [acl.uuid, acl]));
  const uuids = new Map((ports?.rows ?? []).map((row) => [String(row['name']), uuidOf(row['_uuid'])]));
  const addresses = new Map((sets?.rows ?? []).map((row) => [String(row['name']), setOf(row['addresses'])]));
  const places = [...(groups?.rows ?? []), ...(switches?.rows ?? [])].map((row) => ({
    ports: new Set(setOf(row['ports'])),
    acls: setOf(row['acls']).flatMap((uuid) => byUuid.get(uuid) ?? []),
  }));
  const unread = new Set<string>();
  return {
    unread: () => [...unread].sort(),
    lets: (direction, port, ips) => {
      const uuid = uuids.get(port);
      if (uuid === undefined) return undefined;
      const own = places.filter((place) => place.ports.has(uuid)).flatMap((place) => place.acls);
      for (const { unread: name } of own) if (name !== undefined) unread.add(name);
      return letsOf(
        own.filter((acl) => acl.direction === direction && acl.unread === undefined),
        ips,
        (name) => addresses.get(name) ?? [],
      );
    },
  };
};

interface Acl {
  readonly uuid: string;
  readonly direction: PolicyEndStatus['direction'];
  readonly action: Action;
  readonly tier: number;
  readonly priority: number;
  /** Undefined: all of the ports that its group has. */
  readonly match: RuleMatch | undefined;
  /** What it is called, where its match cannot be read. */
  readonly unread: string | undefined;
}

type Action = 'allow' | 'drop' | 'pass';

/** Of administrators' policies, network policies, baseline ones: agent/model/registry/acls.ts. */
const TIERS: readonly number[] = [1, 2, 3];

const ofPolicies = (row: Row): readonly Acl[] => {
  const tier = Number(row['tier']);
  if (!TIERS.includes(tier)) return [];
  const text = String(row['match']);
  const action = actionOf(String(row['action']));
  const match = parseRuleMatch(text);
  // Whatever a drop matches, its group has the ports that it is about.
  const isOfGroup = action === 'drop' && /^(inport|outport) == @\w+$/.test(text);
  const isUnread = match === undefined && !isOfGroup;
  if (isUnread && !isAboutAddresses(text)) return [];
  const priority = Number(row['priority']);
  const unread = isUnread ? `ACL ${uuidOf(row['_uuid'])} (tier ${tier}, priority ${priority}): ${text}` : undefined;
  const direction = row['direction'] === 'from-lport' ? 'Egress' : 'Ingress';
  return [{ uuid: uuidOf(row['_uuid']), direction, action, tier, priority, match, unread }];
};

const actionOf = (text: string): Action => (text === 'drop' || text === 'pass' ? text : 'allow');

/** As OVN does: in each tier the highest that matches decides, or sends on to the next one; at the end everything passes (ovn-nb(5), ACL). */
const letsOf = (
  acls: readonly Acl[],
  { own, peer }: PairOfIps,
  addressesOf: (set: string) => readonly string[],
): readonly Ports[] => {
  const family = own.includes(':') ? 6 : 4;
  const matching = acls.filter(({ direction, match }) => {
    if (match === undefined) return true;
    const [source, destination] = direction === 'Egress' ? [own, peer] : [peer, own];
    return (
      match.family === family &&
      termHas(match.source, source, addressesOf) &&
      termHas(match.destination, destination, addressesOf)
    );
  });
  const allowed: Ports[] = [];
  let reaching: readonly Ports[] = [EVERYTHING];
  for (const tier of TIERS) {
    const decided = inOrder(
      matching
        .filter((acl) => acl.tier === tier)
        .sort((a, b) => b.priority - a.priority)
        .map(({ action, match }) => ({ action, ports: match?.ports ?? [EVERYTHING] })),
      reaching,
    );
    allowed.push(...decided.allowed);
    reaching = decided.goesOn;
  }
  return merged([...allowed, ...reaching]);
};

interface Step {
  readonly action: Action;
  readonly ports: readonly Ports[];
}

const inOrder = (steps: readonly Step[], reaching: readonly Ports[]) => {
  const [allowed, passed]: [Ports[], Ports[]] = [[], []];
  let left = reaching;
  for (const { action, ports } of steps) {
    if (left.length === 0) break;
    const hit = both(left, ports);
    left = without(left, ports);
    if (action === 'allow') allowed.push(...hit);
    if (action === 'pass') passed.push(...hit);
  }
  return { allowed, goesOn: merged([...passed, ...left]) };
};
