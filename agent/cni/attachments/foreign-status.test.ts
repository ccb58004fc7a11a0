import { expect, it } from 'vitest';
import { parseCniResult } from '../../../api/cni/result.ts';
import { foreignNetworks } from './foreign-status.ts';

const RESULT = parseCniResult({
  cniVersion: '1.0.0',
  interfaces: [
    { name: 'br0', mac: '02:00:00:00:00:01' },
    { name: 'net3', mac: '02:00:00:00:00:02', sandbox: '/run/netns/x' },
  ],
  ips: [{ address: '192.168.7.2/24', gateway: '192.168.7.1', interface: 1 }],
  routes: [
    { dst: '10.0.0.0/8', gw: '192.168.7.9' },
    { dst: '0.0.0.0/0', gw: '192.168.7.1' },
  ],
  dns: { nameservers: ['192.168.7.53'] },
});

it('has the end in the pod, by the result of the plugin', () => {
  expect(foreignNetworks([{ nadKey: 'red/bridge/1', interfaceName: 'net3' }], [RESULT])).toEqual([
    {
      ...{ name: 'red/bridge', interface: 'net3', ips: ['192.168.7.2'], mac: '02:00:00:00:00:02', mtu: undefined },
      ...{ default: false, dns: { nameservers: ['192.168.7.53'] }, gateway: ['192.168.7.1'] },
    },
  ]);
});

it('has nothing of an attachment without a result', () => {
  expect(foreignNetworks([{ nadKey: 'red/bridge', interfaceName: 'net1' }], [])).toEqual([]);
});
