import { describe, expect, it } from 'vitest';
import { desiredSchema, differencesSchema } from '../../api/agent-status.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { Backend, ReconcileOutcome } from '../../datapath/backend.ts';
import { ReconcileLoop } from '../reconcile/reconcile-loop.ts';
import { fakeReconciler } from '../testing/fake-reconciler.ts';
import { reportDesired, reportDifferences } from './differences.ts';
import { networkFinder } from './network-of.ts';

const networkOf = networkFinder({
  subjects: new Map([
    ['layer3', 'network'],
    ['vrf', 'networkNode'],
    ['pods', 'pod'],
    ['zone', 'zone'],
  ]),
  isNetwork: (name) => ['red_net', 'a', 'odd/name'].includes(name),
  networkOfPod: (pod) => (pod === 'red/a' ? 'red_net' : undefined),
});

const signal = new AbortController().signal;
const PROBLEM = new Map([['link red', 'no port yet']]);

type Differences = NonNullable<Backend<string>['difference']>;

/** The host with what it has looked at. @param problems by the first attempt */
const host = async (difference: Differences, problems: Partial<ReconcileOutcome> = { waiting: PROBLEM }) => {
  const outcome: ReconcileOutcome = { written: 0, failed: new Map(), waiting: new Map(), ...problems };
  const loop = new ReconcileLoop<string>({
    keyOf: (key) => key,
    backend: {
      reconcile: () => Promise.resolve(outcome),
      listen: () => () => undefined,
      difference,
      close: () => Promise.resolve(),
    },
    clock: createFakeClock(),
    observe: () => undefined,
  });
  loop.store.set('vrf:n1/red_net', ['link red']);
  loop.store.set('zone:', ['sysctl x']);
  loop.start();
  await loop.whenIdle();
  return loop;
};

const sourcesOf = (one: Awaited<ReturnType<typeof host>>) => ({
  reconcilers: new Map([['host' as const, one]]),
  kept: [],
  ...{ networkOf, components: () => [] },
});

describe('which network a thing belongs to', () => {
  it.each([
    ['layer3:red_net', 'red_net'],
    ['vrf:n1/red_net', 'red_net'],
    ['vrf:n1/odd/name', 'odd/name'],
    ['pods:red/a', 'red_net'],
    ['zone:', undefined],
    ['layer3:gone', undefined],
  ])('%s: %s', (owner, network) => expect(networkOf({ owners: [owner], text: '' })).toBe(network));

  it('what no owner desires says it itself, also of a network that is gone', () =>
    expect(networkOf({ owners: [], text: '{"external_ids":{"k8s.ovn.org/network":"gone_net"}}' })).toBe('gone_net'));
});

it('the desired state comes with who wants it, and why it is not there', async () =>
  expect(reportDesired(sourcesOf(await host(async () => []))).map((one) => desiredSchema.parse(one))).toEqual([
    { backend: 'host', key: 'link red', owners: ['vrf:n1/red_net'], network: 'red_net', problem: 'no port yet' },
    { backend: 'host', key: 'sysctl x', owners: ['zone:'] },
  ]));

it('a backend that cannot be read hides no other, nor what is kept beside the reconcilers', async () => {
  const good = await host(async () => [
    { key: 'link red', kind: 'missing', desired: 'link red vrf' },
    { key: 'link old', kind: 'unwanted', actual: 'link old vrf' },
  ]);
  const bad = fakeReconciler({ differences: () => Promise.reject(new Error('no answer')) });
  const mapping = { key: 'mapping', kind: 'missing' as const, owners: ['uplink:'] };
  const sources = {
    reconcilers: new Map([['nftables' as const, bad], ...sourcesOf(good).reconcilers]),
    kept: [['openvswitch', fakeReconciler({ differences: async () => [mapping] })] as const],
    ...{ networkOf, components: () => [] },
  };
  expect(differencesSchema.parse(await reportDifferences(sources, signal))).toEqual({
    differences: [
      {
        backend: 'host',
        key: 'link red',
        kind: 'missing',
        owners: ['vrf:n1/red_net'],
        network: 'red_net',
        wanted: 'link red vrf',
        problem: 'no port yet',
      },
      { backend: 'host', key: 'link old', kind: 'unwanted', owners: [], actual: 'link old vrf' },
      { backend: 'openvswitch', ...mapping },
    ],
    unreadable: [{ backend: 'nftables', message: 'no answer' }],
    unsupported: [],
  });
});

it('bridges of a switch that has stopped are not asked', async () => {
  const differences = () => Promise.reject(new Error('asked'));
  const message = 'ovs-vswitchd does not answer';
  const sources = {
    ...sourcesOf(await host(async () => [])),
    reconcilers: new Map([['openflow' as const, fakeReconciler({ differences })]]),
    components: () => [{ component: 'ovs-vswitchd' as const, state: 'failed' as const, message }],
  };
  expect(await reportDifferences(sources, signal)).toMatchObject({ unreadable: [{ backend: 'openflow', message }] });
});

it('what this machine cannot have is no difference, but said', async () => {
  const unsupported = new Map([['link red', 'this kernel has no VRF']]);
  const loop = await host(async () => [{ key: 'link red', kind: 'missing' }], { unsupported });
  expect(differencesSchema.parse(await reportDifferences(sourcesOf(loop), signal))).toEqual({
    differences: [],
    unreadable: [],
    unsupported: [{ backend: 'host', key: 'link red', network: 'red_net', message: 'this kernel has no VRF' }],
  });
});
