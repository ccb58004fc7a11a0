/**
 * Pods that only the floor adds: the API does not know them, so the agent has written no ports for them, and what the
 * floor writes carries no mark of the agent's, so that the agent leaves it alone. Pure.
 */

import type { PodFact } from '../../agent/model/facts.ts';
import type { PodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import { addressOf, type InterfaceAddress, interfaceAddress, prefixLength } from '../../net/cidr.ts';
import { parsePortKey } from '../../net/ids.ts';
import { ipFamily, ipFromBigInt, ipToBigInt } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';
import type { AnyFragment, DesiredValue } from '../../ovsdb/desired/types.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { WireValue } from '../../ovsdb/wire/notation.ts';

/** How far its addresses are from those of the pod that it is made after: more than there are pods of the API's. */
const ADDRESS_DISTANCE = 100n;

/** On the same node and networks, with a name and addresses of its own. */
export const floorPod = (pod: PodFact): PodFact => ({
  ...pod,
  name: `floor-${pod.name}`,
  uid: `floor-${pod.uid}`,
  runtimeUid: `floor-${pod.runtimeUid}`,
  networks: new Map([...pod.networks].map(([nadKey, entry]) => [nadKey, otherAddresses(entry)])),
});

const otherAddresses = (entry: PodNetworkEntry): PodNetworkEntry => {
  const ipAddresses = entry.ipAddresses.map(otherAddress);
  const [first] = ipAddresses;
  return {
    ...entry,
    ipAddresses,
    mac: first === undefined ? entry.mac : macFromIp(addressOf(first)),
    ...(entry.tunnelId !== undefined && { tunnelId: parsePortKey(entry.tunnelId + Number(ADDRESS_DISTANCE)) }),
  };
};

const otherAddress = (address: InterfaceAddress): InterfaceAddress => {
  const ip = addressOf(address);
  return interfaceAddress(ipFromBigInt(ipFamily(ip), ipToBigInt(ip) + ADDRESS_DISTANCE), prefixLength(address));
};

/** The rows and members that the agent wants for a pod, as operations of one transaction, into rows that are there. */
export const portOperations = (fragments: readonly AnyFragment[]): Operation[] => {
  const rows = fragments.flatMap((fragment) => fragment.rows ?? []);
  const names = new Map(rows.map(({ key }, index) => [key, `port${index}`]));
  const members = fragments.flatMap((fragment) => fragment.members ?? []);
  return [
    ...rows.map(
      ({ table, columns }, index): Operation => ({
        op: 'insert',
        table,
        'uuid-name': `port${index}`,
        // What is to be empty is so in a new row.
        row: Object.fromEntries(
          Object.entries(columns).flatMap(([name, value]) => (value === undefined ? [] : [[name, wireValue(value)]])),
        ),
      }),
    ),
    ...members.map(({ table, row, column, value }): Operation => {
      const added = typeof value === 'object' && 'ref' in value ? names.get(value.ref) : undefined;
      if (typeof row !== 'string' || added === undefined) throw new Error(`a member of ${table} that no pod has`);
      return {
        op: 'mutate',
        table,
        where: [['name', '==', row.slice(table.length + 1)]],
        mutations: [[column, 'insert', ['set', [['named-uuid', added]]]]],
      };
    }),
  ];
};

/** Columns of a port: texts, sets of texts, and maps of them. */
const wireValue = (value: DesiredValue): WireValue => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return ['set', value.map(text)];
  if (typeof value !== 'object') throw new Error(`no column of a port: ${String(value)}`);
  return ['map', Object.entries(value).map(([key, entry]): [string, string] => [key, text(entry)])];
};

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new Error(`no text: ${JSON.stringify(value)}`);
  return value;
};
