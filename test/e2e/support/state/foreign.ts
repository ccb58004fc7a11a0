/** Things that somebody else has made on a node, as close to ours as they can be without our mark. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { type NodeState, type Row, readNodeState, rowsOf, type Tables } from './node-state.ts';

/** Everything of it has a name that begins so. */
const PREFIX = 'foreign';

/** @param logicalSwitch one of ours */
export const plantForeign = async (
  sandbox: Pick<Sandbox, 'node'>,
  node: string,
  logicalSwitch: string,
): Promise<void> => {
  const pod = ['external_ids:pod=true', 'external_ids:namespace=red'];
  await sandbox.node(node, [
    'ovn-nbctl',
    ...['lsp-add', logicalSwitch, 'foreign-port', '--', 'set', 'Logical_Switch_Port', 'foreign-port', ...pod],
    ...['--', 'ls-add', 'foreign-switch', '--', 'lsp-add', 'foreign-switch', 'foreign-port-2'],
    ...['--', 'pg-add', 'foreign_group', 'foreign-port-2'],
    ...['--', '--name=foreign-acl', 'acl-add', 'foreign-switch', 'to-lport', '1001', 'ip', 'drop'],
  ]);
  const claims = `external_ids:sandbox=${'f'.repeat(64)} external_ids:iface-id=foreign-port external_ids:iface-id-ver=0`;
  await sandbox.node(node, [
    'ovs-vsctl',
    ...[
      'add-port',
      'br-int',
      'foreign0',
      '--',
      'set',
      'Interface',
      'foreign0',
      'type=internal',
      'mtu_request=1300',
      ...claims.split(' '),
    ],
  ]);
  await sandbox.node(node, ['ip', 'link', 'add', 'foreign1', 'type', 'veth', 'peer', 'name', 'foreign2']);
  await sandbox.node(node, ['ip', 'link', 'set', 'foreign1', 'alias', 'of somebody else', 'up']);
};

/** What of it is there: to be compared with the same at another time. */
export const readForeign = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<unknown> =>
  foreignOf(await readNodeState(sandbox, node));

const foreignOf = ({ northbound, openvswitch, links }: NodeState): unknown => {
  const ports = named(northbound, 'Logical_Switch_Port');
  const uuids = new Set(ports.map((row) => row['_uuid']));
  return {
    switches: named(northbound, 'Logical_Switch'),
    ports: ports.map(({ up: _, ...row }) => row),
    memberships: rowsOf(northbound, 'Logical_Switch').flatMap(({ name, ports: members }) =>
      [members]
        .flat()
        .filter((uuid) => uuids.has(uuid))
        .map((uuid) => `${String(uuid)} in ${String(name)}`),
    ),
    groups: named(northbound, 'Port_Group'),
    acls: named(northbound, 'ACL'),
    interfaces: named(openvswitch, 'Interface').map(({ _uuid, name, type, external_ids }) => ({
      _uuid,
      name,
      type,
      external_ids,
    })),
    bridgePorts: named(openvswitch, 'Port').map(({ _uuid, name }) => ({ _uuid, name })),
    links: links.filter(({ name }) => name.startsWith(PREFIX)),
  };
};

const named = (tables: Tables, table: string): readonly Row[] =>
  rowsOf(tables, table)
    .filter(({ name }) => String(name).startsWith(PREFIX))
    .toSorted((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1));
