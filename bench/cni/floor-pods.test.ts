import { describe, expect, it } from 'vitest';
import { OWNER_KEY } from '../../agent/model/ownership.ts';
import { cluster, pod } from './floor-cluster.suite.ts';
import { floorPod, portOperations } from './floor-pods.ts';

const fragmentsOf = (key: string) =>
  [...cluster.sinks.northbound.fragments].filter(([owner]) => owner.endsWith(`:${key}`)).map(([, it]) => it);
const northbound = portOperations(fragmentsOf('red/a'));

describe('portOperations', () => {
  it('makes the ports of a pod and puts them into their switches and the port group', () => {
    const inserted = northbound.flatMap((one) => (one.op === 'insert' ? [one.row['name']] : []));
    expect(inserted).toEqual(['red_a', 'red.net_red_a']);
    const group = cluster.sinks.northbound.fragments.get('isolation-pods:red/a')?.members?.[0]?.row;
    const puts = (table: string, name: string, port: string) => ({
      op: 'mutate',
      table,
      where: [['name', '==', name]],
      mutations: [['ports', 'insert', ['set', [['named-uuid', port]]]]],
    });
    expect(northbound.slice(2)).toEqual([
      puts('Logical_Switch', 'node1', 'port0'),
      puts('Logical_Switch', 'red_net_node1', 'port1'),
      puts('Port_Group', String(group).slice('Port_Group/'.length), 'port0'),
    ]);
    expect(JSON.stringify(northbound)).not.toContain(OWNER_KEY);
  });

  it('writes columns as they go over the wire', () => {
    const [port] = northbound;
    expect(port).toMatchObject({
      op: 'insert',
      table: 'Logical_Switch_Port',
      row: {
        type: '',
        addresses: ['set', ['0a:58:0a:80:00:04 10.128.0.4']],
        options: [
          'map',
          [
            ['requested-chassis', 'chassis-node1'],
            ['iface-id-ver', 'uid-a'],
          ],
        ],
      },
    });
  });
});

describe('floorPod', () => {
  it('has a name and addresses of its own on the same networks', () => {
    const { name, uid, node, networks } = floorPod(pod.pod);
    expect({ name, uid, node }).toEqual({ name: 'floor-a', uid: 'floor-uid-a', node: 'node1' });
    expect([...networks].map(([key, { ipAddresses, mac, role }]) => [key, ...ipAddresses, mac, role])).toEqual([
      ['default', '10.128.0.104/23', '0a:58:0a:80:00:68', 'infrastructure-locked'],
      ['red/net', '10.20.1.103/24', '0a:58:0a:14:01:67', 'primary'],
    ]);
  });
});
