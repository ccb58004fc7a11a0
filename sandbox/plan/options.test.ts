import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.ts';

it('has defaults for everything', () => {
  expect(parseOptions({})).toEqual({
    name: 'default',
    nodes: 2,
    gatewayMode: 'shared',
    ipFamily: 'dual',
    api: 'embedded',
    kubelet: 'builtin',
    kernel: 'auto',
    needs: [],
    programs: new Set(['api', 'kubelet', 'cluster-manager', 'agent']),
    definitions: true,
    dns: 'none',
    egress: 'none',
    cniPlugins: [],
    encryption: 'none',
    settings: {},
    timeoutSeconds: 120,
    uplink: 'bridge',
    ovn: 'services',
  });
});

it('encryption needs the kernel’s datapath', () => {
  expect(parseOptions({ encryption: 'ipsec' }).needs).toEqual(['kernel-datapath']);
  expect(parseOptions({ encryption: 'ipsec', needs: 'vrf,kernel-datapath' }).needs).toEqual(['vrf', 'kernel-datapath']);
});

it.each([
  ['all', ['agent', 'api', 'cluster-manager', 'kubelet']],
  ['none', []],
  ['api', ['api']],
  ['kubelet', ['api', 'kubelet']],
  ['agent,cluster-manager', ['agent', 'api', 'cluster-manager']],
])('programs %s are %j', (programs, expected) => {
  expect([...parseOptions({ programs }).programs].sort()).toEqual(expected);
});

it.each([
  ['vrf,kernel-datapath', ['vrf', 'kernel-datapath']],
  ['', []],
  [['sctp'], ['sctp']],
])('needs %j are %j', (needs, expected) => {
  expect(parseOptions({ needs }).needs).toEqual(expected);
});

describe('refuses', () => {
  it.each([
    [{ nodes: -1 }, /^nodes: /],
    [{ nodes: 0 }, /^nodes: kubelet and agent need at least 1/],
    [{ nodes: 0, programs: 'agent' }, /^nodes: /],
    [{ nodes: 201 }, /^nodes: /],
    [{ nodes: 'two' }, /^nodes: /],
    [{ name: '../up' }, /^name: /],
    [{ name: 'UP' }, /^name: /],
    [{ name: 'x'.repeat(33) }, /^name: /],
    [{ programs: 'agent,x' }, /^programs: /],
    [{ programs: '' }, /^programs: /],
    [{ gatewayMode: 'both' as 'shared' }, /^gatewayMode: /],
    [{ egress: 'route' as const }, /^egress: only --api kube/],
    [{ egress: 'konnectivity' as const, api: 'kube' as const }, /^egress: pods of konnectivity need real kubelets/],
    [{ egress: 'konnectivity' as const, kubelet: 'real' as const, programs: 'kubelet' }, /^egress: /],
    [{ settings: { PATH: '/' } }, /^settings\.PATH: must be named UDN_/],
    [{ needs: 'vrf,wings' }, /^needs\.1: must be some of vrf,sctp,kernel-datapath/],
    [{ kubelet: 'real', api: 'embedded' } as const, /^api: real kubelets need --api kube/],
    [{ ovn: 'pods' } as const, /^ovn: its pods need real kubelets/],
    [{ ovn: 'pods', kubelet: 'real' } as const, /^ovn: nodes have no bridge/],
    [{ ovn: 'pods', kubelet: 'real', uplink: 'nic' } as const, /^ovn: an agent waits for its pods/],
    [{ ovn: 'pods', kubelet: 'real', uplink: 'nic', encryption: 'ipsec' } as const, /^ovn: tunnels are encrypted/],
    [{ colour: 'red' } as object, /colour/],
  ])('%j', (input, message) => {
    expect(() => parseOptions(input)).toThrow(
      expect.objectContaining({ code: 'ERR_SANDBOX_USAGE', message: expect.stringMatching(message) }),
    );
  });
});

it('Open vSwitch and OVN in pods need nothing but kubelets', () => {
  const input = { ovn: 'pods', kubelet: 'real', uplink: 'nic', programs: 'kubelet' } as const;
  expect(parseOptions(input).ovn).toBe('pods');
});

it('real kubelets bring a real API server', () => {
  expect(parseOptions({ kubelet: 'real' }).api).toBe('kube');
});
