import { expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import type { PodInput } from '../../testing/cluster.ts';
import { TestCluster } from '../../testing/cluster.ts';
import type { PluggedPort } from '../ovs-ports.ts';
import { hostName } from '../plumbing.ts';
import { networkStatusText } from './network-status.ts';

const SANDBOX = '0123456789abcdef0123456789abcdef';
const port = (nadKey: string, interfaceName: string, index: number): PluggedPort => ({
  ...{ name: hostName(SANDBOX, index), sandbox: SANDBOX, logicalPort: nadKey, podUid: 'uid-a', interfaceName, nadKey },
  ...{ isInstalled: true, error: undefined },
});
/** In the order of a database, which is none. */
const PORTS = [port('red/flat/1', 'more', 11), port('red/net', 'ovn-udn1', 1), port('red/flat', 'net1', 2)];

const attachments = (pod: Partial<PodInput> = {}) => {
  const cluster = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
    .namespace('red', true)
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
    .network('red_flat', {
      ...{ id: 20, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'], namespace: 'red', nad: 'flat' },
    })
    .pod('red/a', {
      node: 'node1',
      networks: {
        default: { ips: ['10.128.0.3/23'], role: 'infrastructure-locked' },
        'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
        'red/flat': { ips: ['10.90.0.3/24'], tunnelId: 7, role: 'secondary' },
        'red/flat/1': { ips: ['10.90.0.4/24'], tunnelId: 8, role: 'secondary' },
      },
      selects: 'flat,flat@more',
      ...pod,
    });
  cluster.render();
  return cluster.sinks.attachments.get('attachments:red/a')!;
};

const shown = (text: string | undefined): unknown[] =>
  (JSON.parse(text ?? '[]') as Record<string, unknown>[]).map(({ name, interface: device, ips, mtu }) => [
    ...[name, device, ips, mtu],
  ]);

it('has the interfaces of the sandbox, in the order in which they were made', () => {
  expect(shown(networkStatusText(attachments(), [...PORTS, port('default', 'eth0', 0)]))).toEqual([
    ['ovn-kubernetes', 'eth0', ['10.128.0.3'], 1400],
    ['red/net', 'ovn-udn1', ['10.20.1.3'], 1400],
    ['red/flat', 'net1', ['10.90.0.3'], 1400],
    ['red/flat', 'more', ['10.90.0.4'], 1400],
  ]);
});

it('keeps what the pod does not select any more, and lacks what it selects since', () => {
  const edited = attachments({ selects: 'flat' });
  expect(networkStatusText(edited, PORTS)).toBe(networkStatusText(attachments(), PORTS));
  expect(shown(networkStatusText(attachments(), [port('default', 'eth0', 0)]))).toHaveLength(1);
});

it('has the gateways that a selection asks for', () => {
  const routed = attachments({
    selects: '[{"name":"flat","default-route":["10.90.0.250"]},{"name":"flat","interface":"more"}]',
  });
  expect(JSON.parse(networkStatusText(routed, PORTS) ?? '[]')).toContainEqual(
    expect.objectContaining({ interface: 'net1', 'default-route': ['10.90.0.250'] }),
  );
});

it('is not known without ports, nor while an address or a network is not', () => {
  expect(networkStatusText(attachments(), [])).toBeUndefined();
  expect(networkStatusText(attachments(), [...PORTS, port('red/gone', 'net3', 4)])).toBeUndefined();
});

it('has the default route by a network of another plugin only where the pod has asked for it', () => {
  const routed = attachments({
    networks: {
      default: { ips: ['10.128.0.3/23'], role: 'infrastructure-locked' },
      'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
    },
    selects: '',
  });
  const foreign = { name: 'red/lan', interface: 'net1', default: false, gateway: [parseIp('10.5.0.1')] };
  const defaults = (one: object): unknown[] =>
    JSON.parse(
      networkStatusText(
        routed,
        [port('default', 'eth0', 0), port('red/net', 'ovn-udn1', 1)],
        [{ ...foreign, ...one }],
      ) ?? '[]',
    ).flatMap((each: { default?: boolean; interface: string }) => (each.default === true ? [each.interface] : []));
  expect(defaults({})).toEqual(['ovn-udn1']);
  expect(defaults({ defaultRoute: [parseIp('10.5.0.1')] })).toEqual(['net1']);
});
