/** Hosts on a VLAN of the physical network: ports of another node's bridge. Between them and a pod are the uplinks of both, which are trunks. */
import { type Ip, ipFamily } from '../../../../net/ip.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

export interface VlanHost {
  readonly node: string;
  readonly bridge: string;
  readonly vlan: number;
  readonly addresses: readonly Ip[];
}

export const makeVlanHost = async (
  sandbox: Pick<Sandbox, 'node'>,
  { node, bridge, vlan, addresses }: VlanHost,
): Promise<void> => {
  const port = vlanPort(vlan);
  const add = ['add-port', bridge, port, `tag=${vlan}`, '--', 'set', 'Interface', port, 'type=internal'];
  await sandbox.node(node, ['ovs-vsctl', ...add]);
  await sandbox.node(node, ['ip', 'link', 'set', port, 'up']);
  for (const address of addresses) {
    const [length, ...nodad] = ipFamily(address) === 4 ? ['24'] : ['64', 'nodad'];
    await sandbox.node(node, ['ip', 'addr', 'add', `${address}/${length}`, 'dev', port, ...nodad]);
  }
};

export const removeVlanHost = async (
  sandbox: Pick<Sandbox, 'node'>,
  { node, vlan }: Pick<VlanHost, 'node' | 'vlan'>,
): Promise<void> => {
  await sandbox.node(node, ['ovs-vsctl', 'del-port', vlanPort(vlan)]);
};

export const vlanPort = (vlan: number): string => `host${vlan}`;
