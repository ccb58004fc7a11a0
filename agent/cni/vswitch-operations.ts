/** The operations that plug and unplug ports of pods. Pure. */
import type { Operation } from '../../ovsdb/transact/operation.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';
import type { WireAtom, WireMap } from '../../ovsdb/wire/notation.ts';
import { POD_PORT_KEY } from '../model/ownership.ts';
import type { PortSpec } from './ovs-ports.ts';

export const INTEGRATION_BRIDGE = 'br-int';

/** All of them in one transaction, which fails at once when the bridge is not there. */
export const plugOperations = (ports: readonly PortSpec[]): Operation[] => [
  {
    op: 'wait',
    table: 'Bridge',
    where: [['name', '==', INTEGRATION_BRIDGE]],
    columns: ['name'],
    until: '==',
    rows: [{ name: INTEGRATION_BRIDGE }],
    timeout: 0,
  },
  ...ports.flatMap((port, index) => insertPort(port, index)),
  {
    op: 'mutate',
    table: 'Bridge',
    where: [['name', '==', INTEGRATION_BRIDGE]],
    mutations: [['ports', 'insert', ['set', ports.map((_, index): WireAtom => ['named-uuid', `port${index}`])]]],
  },
];

/** Ports and their interfaces live only as long as a bridge refers to them, so they go with the reference. */
export const unplugOperations = (ports: readonly Uuid[]): Operation[] =>
  ports.length === 0
    ? []
    : [
        {
          op: 'mutate',
          table: 'Bridge',
          where: [['name', '==', INTEGRATION_BRIDGE]],
          mutations: [['ports', 'delete', ['set', ports.map((uuid): WireAtom => ['uuid', uuid])]]],
        },
      ];

/** Whether an interface with these `external_ids` is that of the port. What ovn-controller adds does not count. */
export const isAsDesired = (externalIds: Readonly<Record<string, string>>, port: PortSpec): boolean =>
  Object.entries(interfaceIds(port)).every(([key, value]) => externalIds[key] === value);

const insertPort = (port: PortSpec, index: number): Operation[] => [
  {
    op: 'insert',
    table: 'Interface',
    'uuid-name': `interface${index}`,
    row: { name: port.name, external_ids: wireMap(interfaceIds(port)) },
  },
  {
    op: 'insert',
    table: 'Port',
    'uuid-name': `port${index}`,
    row: {
      name: port.name,
      interfaces: ['named-uuid', `interface${index}`],
      // ovs-ctl(8) takes transient ports away when the node boots: their links are gone then.
      other_config: wireMap({ transient: 'true' }),
      external_ids: wireMap({ [POD_PORT_KEY]: port.name }),
    },
  },
];

const interfaceIds = (port: PortSpec): Record<string, string> => ({
  [POD_PORT_KEY]: port.name,
  'iface-id': port.logicalPort,
  'iface-id-ver': port.podUid,
  sandbox: port.sandbox,
  'pod-if-name': port.interfaceName,
  attached_mac: port.mac,
  ip_addresses: port.addresses.join(','),
  ...(port.network !== undefined && {
    'k8s.ovn.org/network': port.network.name,
    'k8s.ovn.org/nad': port.network.nad,
  }),
});

const wireMap = (entries: Readonly<Record<string, string>>): WireMap => ['map', Object.entries(entries)];
