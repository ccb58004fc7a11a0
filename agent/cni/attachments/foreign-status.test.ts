import { expect, it } from 'vitest';
import { parseCniResult } from '../../../api/cni/result.ts';
import { parseIp } from '../../../net/ip.ts';
import { foreignNetwork } from './foreign-status.ts';

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
  expect(foreignNetwork({ nadKey: 'red/bridge/1', interfaceName: 'net3', result: RESULT })).toEqual({
    ...{ name: 'red/bridge', interface: 'net3', ips: ['192.168.7.2'], mac: '02:00:00:00:00:02', mtu: undefined },
    ...{ default: false, dns: { nameservers: ['192.168.7.53'] }, gateway: ['192.168.7.1'] },
  });
});

it('has the gateways that the pod has asked for', () => {
  const defaultRoute = [parseIp('192.168.7.1')];
  expect(foreignNetwork({ nadKey: 'red/bridge', interfaceName: 'net3', result: RESULT, defaultRoute })).toMatchObject({
    defaultRoute,
    gateway: defaultRoute,
  });
});
