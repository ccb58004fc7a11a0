import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/types.ts';
import { reachabilityPods } from './pods.ts';

const OF_SERVER = { uid: 'uid', resourceVersion: '1' };

const nad = (namespace: string, network: string, id: number): KubeObject => ({
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { ...OF_SERVER, name: 'net', namespace, annotations: { 'k8s.ovn.org/network-id': String(id) } },
  spec: {
    config: JSON.stringify({
      cniVersion: '1.0.0',
      type: 'ovn-k8s-cni-overlay',
      name: network,
      netAttachDefName: `${namespace}/net`,
      topology: 'layer3',
      role: 'primary',
      subnets: '10.100.0.0/16/24',
    }),
  },
});

const entry = (address: string, role: string) => ({ ip_addresses: [address], mac_address: '0a:58:0a:00:00:01', role });

const podObject = (namespace: string, name: string, phase: string, networks?: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...OF_SERVER,
    name,
    namespace,
    ...(networks === undefined ? {} : { annotations: { 'k8s.ovn.org/pod-networks': JSON.stringify(networks) } }),
  },
  spec: { nodeName: 'node-1' },
  status: { phase },
});

const locked = { default: entry('10.128.0.3/23', 'infrastructure-locked') };

describe('reachabilityPods', () => {
  it('reads networks and addresses, the primary network first', () => {
    const pods = [podObject('red', 'a', 'Running', { ...locked, 'red/net': entry('10.100.0.3/24', 'primary') })];
    expect(reachabilityPods(pods, [nad('red', 'red_net', 1)])).toEqual([
      {
        key: 'red/a',
        hostname: 'a',
        node: 'node-1',
        attachments: [
          { network: 'red_net', role: 'primary', addresses: ['10.100.0.3'] },
          { network: 'default', role: 'infrastructure-locked', addresses: ['10.128.0.3'] },
        ],
      },
    ]);
  });

  it('orders by network id, then by name', () => {
    const nads = [nad('red', 'red_net', 2), nad('blue', 'blue_net', 1)];
    const pods = [
      podObject('red', 'a', 'Running', { ...locked, 'red/net': entry('10.100.0.3/24', 'primary') }),
      podObject('blue', 'b', 'Running', { ...locked, 'blue/net': entry('10.100.0.4/24', 'primary') }),
      podObject('blue', 'a', 'Running', { ...locked, 'blue/net': entry('10.100.0.3/24', 'primary') }),
      podObject('plain', 'z', 'Running', { default: entry('10.128.0.9/23', 'primary') }),
    ];
    expect(reachabilityPods(pods, nads).map(({ key }) => key)).toEqual(['plain/z', 'blue/a', 'blue/b', 'red/a']);
  });

  it('leaves out pods that do not run or have no addresses yet', () => {
    const pods = [podObject('red', 'a', 'Pending', locked), podObject('red', 'b', 'Running')];
    expect(reachabilityPods(pods, [])).toEqual([]);
  });

  it('calls a network that has no NAD by its key', () => {
    const pods = [podObject('red', 'a', 'Running', { ...locked, 'red/net': entry('10.100.0.3/24', 'primary') })];
    expect(reachabilityPods(pods, [])[0]?.attachments[0]?.network).toBe('red/net');
  });
});
