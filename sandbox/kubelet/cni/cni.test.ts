import { describe, expect, it } from 'vitest';
import { attachmentEnvironment, pluginInput } from './request.ts';
import { podAddresses } from './result.ts';
import { shuffled } from './shuffled.ts';

const attachment = {
  containerId: 'c'.repeat(64),
  netns: '/run/netns/cni-1',
  ifName: 'eth0',
  pod: { namespace: 'ns', name: 'pod', uid: 'u-1' },
};

it('the environment is that of a container runtime', () => {
  const { CNI_ARGS, ...rest } = attachmentEnvironment('ADD', attachment);
  expect(rest).toEqual({
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: 'c'.repeat(64),
    CNI_NETNS: '/run/netns/cni-1',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/opt/cni/bin:/usr/lib/cni',
  });
  expect(CNI_ARGS?.split(';').sort()).toEqual([
    'IgnoreUnknown=1',
    `K8S_POD_INFRA_CONTAINER_ID=${'c'.repeat(64)}`,
    'K8S_POD_NAME=pod',
    'K8S_POD_NAMESPACE=ns',
    'K8S_POD_UID=u-1',
  ]);
});

it('the network’s version and name win over those of a plugin', () => {
  const conf = { cniVersion: '1.0.0', name: 'net' };
  const plugin = { type: 'p', name: 'other', cniVersion: '0.1.0', x: [1] };
  expect(JSON.parse(pluginInput(conf, plugin, { prevResult: { ips: [] } }))).toEqual({
    type: 'p',
    x: [1],
    cniVersion: '1.0.0',
    name: 'net',
    prevResult: { ips: [] },
  });
});

it('shuffled keeps every item', () => {
  for (let i = 0; i < 50; i++) expect(shuffled([1, 2, 3, 4]).sort()).toEqual([1, 2, 3, 4]);
  expect(shuffled([1, 2, 3], () => 0)).toEqual([2, 3, 1]);
});

describe('podAddresses', () => {
  it.each([
    ['nothing', {}, []],
    [
      'addresses without an interface',
      { ips: [{ address: '10.0.0.1/24' }, { address: 'fd00::1/64' }] },
      ['10.0.0.1', 'fd00::1'],
    ],
    [
      'only those of eth0 in the pod',
      {
        interfaces: [
          { name: 'host', mac: '' },
          { name: 'eth0', sandbox: '/n' },
          { name: 'eth0', sandbox: '' },
          { name: 'ovn-udn1', sandbox: '/n' },
        ],
        ips: [
          { address: '10.0.0.1/24', interface: 1, gateway: '10.0.0.254' },
          { address: '10.0.0.2/24', interface: 2 },
          { address: '192.168.0.3/24', interface: 3 },
        ],
      },
      ['10.0.0.1'],
    ],
  ])('%s', (_, value, expected) => expect(podAddresses(value)).toEqual(expected));

  it('refuses what is no result', () => expect(() => podAddresses({ ips: 'x' })).toThrow());
});
