import { expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import type { PodFact } from '../../model/facts.ts';
import { evaluatedPod } from './evaluated-pod.ts';
import type { PolicyPod } from './types.ts';

const written: PolicyPod = {
  ...{ namespace: 'red', labels: {}, isLocal: false, node: 'node2', finished: false, ports: [] },
  addresses: new Map([
    ['default', [parseIp('10.128.2.3')]],
    ['red/lan', [parseIp('10.150.0.3')]],
    ['red/flat', [parseIp('10.94.0.3')]],
  ]),
};

const entry = (address: string, role: 'secondary') => ({
  ipAddresses: [parseInterfaceAddress(address)],
  mac: parseMac('0a:58:0a:96:00:03'),
  gatewayIps: [],
  routes: [],
  role,
});

const addresses = (more: Partial<PodFact>) => {
  const networks = new Map([['red/flat', entry('10.94.0.3/24', 'secondary')]]);
  const fact = {
    namespace: 'red',
    name: 'a',
    uid: 'u',
    runtimeUid: 'u',
    node: 'node2',
    hostNetwork: false,
    finished: false,
  };
  const pod = evaluatedPod('red/a', written, { ...fact, networks, ...more });
  return Object.fromEntries([...pod.addresses].map(([key, ips]) => [key, ips.join(' ')]));
};

const ALL = { default: '10.128.2.3', 'red/lan': '10.150.0.3', 'red/flat': '10.94.0.3' };

it('a pod of another node has what is written, on networks that end there as well', () => {
  expect(addresses({})).toEqual(ALL);
});

it('but for what it is refused, or has still of what was written before', () => {
  const { 'red/lan': _, ...others } = ALL;
  expect(addresses({ refused: new Map([['red/lan', 'belongs to pod red/b']]) })).toEqual(others);
  const networks = new Map([['red/lan', entry('10.150.0.4/24', 'secondary')]]);
  expect(addresses({ networks, lost: new Set(['red/lan']) })).toEqual({ ...ALL, 'red/lan': '10.150.0.4' });
});

it('and nothing of an annotation that cannot be read, or that has what is no pod’s', () => {
  expect(addresses({ unreadable: 'damaged' })).toEqual({ 'red/flat': '10.94.0.3' });
  expect(addresses({ barred: 'its port name is taken' })).toEqual({});
});
