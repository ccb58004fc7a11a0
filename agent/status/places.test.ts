import { describe, expect, it } from 'vitest';
import { differencesSchema, wantedSchema } from '../../api/agent-status.ts';
import type { Difference } from '../../datapath/backend.ts';
import { ItemStore } from '../desired/item-store.ts';
import { itemPlace } from './item-place.ts';
import { networkFinder } from './network-of.ts';
import { reportDifferences, reportWanted } from './places.ts';

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

const WAITING = { kind: 'waiting' as 'waiting' | 'unsupported', message: 'no port yet' };

const place = (difference: () => Promise<readonly Difference[]>, problem = WAITING) => {
  const store = new ItemStore<string>(
    (key) => key,
    () => {},
  );
  store.set('vrf:n1/red_net', ['link red']);
  store.set('zone:', ['sysctl x']);
  const since = 0;
  return itemPlace('host', { store, problems: new Map([['link red', { ...problem, since }]]) }, { difference });
};

describe('which network a thing belongs to', () => {
  it.each([
    ['layer3:red_net', 'red_net'],
    ['vrf:n1/red_net', 'red_net'],
    ['vrf:n1/odd/name', 'odd/name'],
    ['pods:red/a', 'red_net'],
    ['zone:', undefined],
    ['layer3:gone', undefined],
  ])('%s: %s', (owner, network) => expect(networkOf({ owners: [owner], text: '' })).toBe(network));

  it('what nobody wants says it itself, also of a network that is gone', () =>
    expect(networkOf({ owners: [], text: '{"external_ids":{"k8s.ovn.org/network":"gone_net"}}' })).toBe('gone_net'));
});

it('what is wanted comes with who wants it, and why it is not there', () =>
  expect(reportWanted([place(async () => [])], networkOf).map((one) => wantedSchema.parse(one))).toEqual([
    { backend: 'host', key: 'link red', owners: ['vrf:n1/red_net'], network: 'red_net', problem: 'no port yet' },
    { backend: 'host', key: 'sysctl x', owners: ['zone:'] },
  ]));

it('a place that cannot be read hides no other', async () => {
  const good = place(async () => [
    { key: 'link red', kind: 'missing', wanted: 'link red vrf' },
    { key: 'link old', kind: 'unwanted', actual: 'link old vrf' },
  ]);
  const bad = place(async () => Promise.reject(new Error('no answer')));
  const report = await reportDifferences([bad, good], networkOf, new AbortController().signal);
  expect(differencesSchema.parse(report)).toEqual({
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
    ],
    unreadable: [{ backend: 'host', message: 'no answer' }],
    unsupported: [],
  });
});

it('what this machine cannot have is no difference, but said', async () => {
  const missing: Difference[] = [{ key: 'link red', kind: 'missing' }];
  const problem = { kind: 'unsupported' as const, message: 'this kernel has no VRF' };
  const report = await reportDifferences(
    [place(async () => missing, problem)],
    networkOf,
    new AbortController().signal,
  );
  expect(differencesSchema.parse(report)).toEqual({
    differences: [],
    unreadable: [],
    unsupported: [{ backend: 'host', key: 'link red', network: 'red_net', message: 'this kernel has no VRF' }],
  });
});
