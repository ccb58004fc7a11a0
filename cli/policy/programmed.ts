/**
 * What the rows of the northbound database let through, read without the agent's help: so that what it means to have programmed can be
 * compared with what is.
 */
import type { PolicyEndStatus } from '../../api/policy-status.ts';
import type { Ip } from '../../net/ip.ts';
import type { Transact } from '../flows/datapaths.ts';
import { type Row, setOf, uuidOf } from '../node/wire-values.ts';
import { parseRuleMatch, type RuleMatch, termHas } from './acl-match.ts';
import { EVERYTHING, merged, type Ports } from './let-through.ts';

export interface Programmed {
  /** @param port of the pod in OVN @param ips of both ends, of one family; undefined: the pod has no port there */
  lets(direction: PolicyEndStatus['direction'], port: string, ips: PairOfIps): readonly Ports[] | undefined;
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
  return {
    lets: (direction, port, ips) => {
      const uuid = uuids.get(port);
      if (uuid === undefined) return undefined;
      const own = places.filter((place) => place.ports.has(uuid)).flatMap((place) => place.acls);
      return letsOf(
        own.filter((acl) => acl.direction === direction),
        ips,
        (name) => addresses.get(name) ?? [],
      );
    },
  };
};

interface Acl {
  readonly uuid: string;
  readonly direction: PolicyEndStatus['direction'];
  readonly isDrop: boolean;
  readonly priority: number;
  readonly match: RuleMatch | undefined;
}

/** Of network policies: agent/model/registry/acls.ts. */
const TIER = 2;

const ofPolicies = (row: Row): readonly Acl[] => {
  if (Number(row['tier']) !== TIER) return [];
  const text = String(row['match']);
  const isDrop = row['action'] === 'drop';
  // Whatever a drop matches, its group has the ports that it is about.
  if (isDrop && !/^(inport|outport) == @\w+$/.test(text)) return [];
  const match = parseRuleMatch(text);
  if (!isDrop && match === undefined) return [];
  const direction = row['direction'] === 'from-lport' ? 'Egress' : 'Ingress';
  return [{ uuid: uuidOf(row['_uuid']), direction, isDrop, priority: Number(row['priority']), match }];
};

const letsOf = (
  acls: readonly Acl[],
  { own, peer }: PairOfIps,
  addressesOf: (set: string) => readonly string[],
): readonly Ports[] => {
  const drop = Math.max(...acls.filter(({ isDrop }) => isDrop).map(({ priority }) => priority));
  if (drop === Number.NEGATIVE_INFINITY) return [EVERYTHING];
  const family = own.includes(':') ? 6 : 4;
  const letting = acls.filter(({ isDrop, priority, direction, match }) => {
    if (isDrop || priority <= drop || match?.family !== family) return false;
    const [source, destination] = direction === 'Egress' ? [own, peer] : [peer, own];
    return termHas(match.source, source, addressesOf) && termHas(match.destination, destination, addressesOf);
  });
  return merged(letting.flatMap(({ match }) => match?.ports ?? []));
};
