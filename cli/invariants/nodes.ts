/** Ids and subnets of nodes. Pure. */

import { DEFAULT_HOST_PREFIX } from '../../api/cluster-config.ts';
import { describeFinding } from '../../api/errors.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { FIRST_NODE_ID, LAST_NODE_ID } from '../../cluster-manager/allocation/node-allocations.ts';
import { addressOf, type Cidr, cidrContains, cidrFamily, cidrsOverlap, prefixLength } from '../../net/cidr.ts';
import { ipToBigInt } from '../../net/ip.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import type { KnownNetwork } from './networks.ts';
import { givenTwice, type Violation } from './violation.ts';

const objectOf = (name: string): string => `Node/${name}`;

export const nodeViolations = (
  { nodes }: Pick<Snapshot, 'nodes'>,
  networks: ReadonlyMap<string, KnownNetwork>,
): readonly Violation[] => {
  const all = [...nodes.values()];
  const held = all.flatMap(subnetsOf);
  return [
    ...all.flatMap(({ name, held: { errors } }) =>
      errors.map((error) => ({
        rule: 'unreadable' as const,
        objects: [objectOf(name)],
        message: describeFinding(error),
      })),
    ),
    ...givenTwice(
      'node-id',
      all.flatMap(({ name, held: { id } }) =>
        id === undefined ? [] : [{ value: String(id), holder: `node ${name}`, object: objectOf(name) }],
      ),
      (id) => `node id ${id}`,
    ),
    ...all.flatMap(reservedId),
    ...givenTwice('node-id', all.flatMap(transitOf), (value) => `transit addresses ${value}`),
    ...overlaps(held),
    ...held.flatMap((one) => outside(one, networks)),
  ];
};

const reservedId = ({ name, held: { id } }: NodeState): Violation[] =>
  id === undefined || (id >= FIRST_NODE_ID && id <= LAST_NODE_ID)
    ? []
    : [
        {
          rule: 'node-id',
          objects: [objectOf(name)],
          message: `node id ${id} is not from ${FIRST_NODE_ID} to ${LAST_NODE_ID}`,
        },
      ];

const transitOf = ({ name, annotations: { transitAddresses } }: NodeState) =>
  transitAddresses === undefined ? [] : [{ value: transitAddresses, holder: `node ${name}`, object: objectOf(name) }];

interface HeldSubnet {
  readonly node: string;
  readonly network: string;
  readonly subnet: Cidr;
}

const subnetsOf = ({ name, held: { subnets } }: NodeState): HeldSubnet[] =>
  [...subnets].flatMap(([network, list]) => list.map((subnet) => ({ node: name, network, subnet })));

/** Sorted by their first address, whoever overlaps another one overlaps the one before it, or something larger before that. */
const overlaps = (held: readonly HeldSubnet[]): readonly Violation[] => {
  const groups = Map.groupBy(held, ({ network, subnet }) => `${network} ${cidrFamily(subnet)}`);
  return [...groups.values()].flatMap((group) => {
    const sorted = group
      .map((one) => ({ ...one, start: ipToBigInt(addressOf(one.subnet)) }))
      .sort((a, b) =>
        a.start < b.start ? -1 : a.start > b.start ? 1 : prefixLength(a.subnet) - prefixLength(b.subnet),
      );
    const violations: Violation[] = [];
    let widest = sorted[0];
    for (const one of sorted.slice(1)) {
      if (widest !== undefined && cidrsOverlap(widest.subnet, one.subnet)) violations.push(overlap(widest, one));
      else widest = one;
    }
    return violations;
  });
};

const overlap = (a: HeldSubnet, b: HeldSubnet): Violation => ({
  rule: 'node-subnet',
  objects: [objectOf(a.node), objectOf(b.node)],
  message: `subnet ${a.subnet} of node ${a.node} and ${b.subnet} of node ${b.node} overlap in network ${a.network}`,
});

const outside = ({ node, network, subnet }: HeldSubnet, networks: ReadonlyMap<string, KnownNetwork>): Violation[] => {
  // Its ranges are a setting of the programs, which the API does not show.
  if (network === DEFAULT_NETWORK_NAME) return [];
  const conf = networks.get(network)?.conf;
  const objects = [objectOf(node)];
  if (conf === undefined || conf.topology !== 'layer3') {
    const message = `node ${node} has subnet ${subnet} of network ${network}, but no such layer-3 network exists`;
    return [{ rule: 'orphan', objects, message }];
  }
  const range = conf.subnets.find(({ cidr }) => cidrContains(cidr, subnet));
  if (range === undefined) {
    const message = `subnet ${subnet} of node ${node} is not in the subnets of network ${network}`;
    return [{ rule: 'node-subnet', objects, message }];
  }
  const expected = range.hostPrefix ?? DEFAULT_HOST_PREFIX[cidrFamily(range.cidr)];
  if (prefixLength(subnet) === expected) return [];
  const message = `subnet ${subnet} of node ${node} is no /${expected}, as network ${network} gives to nodes`;
  return [{ rule: 'node-subnet', objects, message }];
};
