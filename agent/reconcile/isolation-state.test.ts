import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../base/testing/fake-clock.ts';
import { createNftables } from '../../datapath/nftables/backend.ts';
import { FakeNft } from '../../datapath/nftables/fake-nft.ts';
import { type NftItem, nftItemKey } from '../../datapath/nftables/types.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { LOCAL } from '../model/facts.ts';
import { TestCluster } from '../testing/cluster.ts';
import { IsolationState } from './isolation-state.ts';
import { ReconcileLoop } from './reconcile-loop.ts';

const NEVER = new AbortController().signal;
const ADDRESS = 'element udn-pod-default-ips-v4 10.1.1.3';
const LOCKED = {
  default: { ips: ['10.1.1.3/24'], role: 'infrastructure-locked' },
  'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
} as const;

let nft: FakeNft;
let clock: FakeClock;
let cluster: TestCluster;
let loop: ReconcileLoop<NftItem>;
let state: IsolationState;

beforeEach(() => {
  nft = new FakeNft();
  clock = createFakeClock();
  cluster = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.1.1.0/24'], red_net: ['10.20.1.0/24'] } })
    .namespace('red', true)
    .namespace('plain')
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });
  loop = new ReconcileLoop({
    keyOf: nftItemKey,
    backend: createNftables({ runner: nft, schedule: () => () => {} }),
    clock,
    observe: () => {},
  });
  state = new IsolationState(loop);
});

afterEach(() => loop.stop());

const render = (): void => {
  cluster.render();
  loop.store.set('all', cluster.sinks.nftables.all());
};
const add = (pod: string, networks: Parameters<TestCluster['pod']>[1]['networks']): PodAttachments => {
  cluster.pod(pod, { node: 'node1', networks });
  render();
  const found = [...cluster.sinks.attachments.values()].find((one) => `${one.pod.namespace}/${one.pod.name}` === pod);
  if (found === undefined) throw new Error(`${pod} has no attachments`);
  return found;
};

it('is not there before nftables was written, and is from then on', async () => {
  expect(state.lackingOnNode()).toBe('chain udn-isolation: not rendered yet');
  render();
  expect(state.lackingOnNode()).toBe('chain udn-isolation: not programmed yet');
  const pod = add('red/a', LOCKED);
  const isolated = state.untilIsolated(pod, NEVER);
  loop.start();
  await isolated;
  expect([state.lackingOnNode(), state.lackingOf(pod)]).toEqual([undefined, undefined]);
  expect(nft.scripts.join('')).toContain(
    'add element inet ovn-udn udn-pod-default-ips-v4 { 10.1.1.3 comment "red/a" }',
  );
});

it('of a pod is there with its address and all chains with drops', async () => {
  render();
  loop.start();
  await loop.whenIdle(NEVER);
  nft.refused = /add element .* udn-pod-default-ips-v4/;
  const pod = add('red/a', LOCKED);
  expect(state.lackingOf(pod)).toBe(`${ADDRESS}: not programmed yet`);
  const isolated = state.untilIsolated(pod, NEVER);
  await loop.whenIdle(NEVER);
  expect(state.lackingOf(pod)).toBe(`${ADDRESS}: No such file or directory`);
  expect(state.lackingOnNode()).toBeUndefined();
  nft.refused = undefined;
  await clock.advance(1_000);
  await isolated;
  expect(state.lackingOf(pod)).toBeUndefined();
  loop.store.set(
    'all',
    cluster.sinks.nftables.all().filter((item) => nftItemKey(item) !== 'chain udn-default-port'),
  );
  expect(state.lackingOf(pod)).toBe('chain udn-default-port: not rendered yet');
});

it('says what keeps nft from writing, and waits no longer than it is to', async () => {
  render();
  nft.broken = 'netlink: Error: cache initialization failed: Operation not supported\n';
  loop.start();
  await loop.whenIdle(NEVER);
  expect(state.lackingOnNode()).toMatch(
    /^chain udn-isolation: the kernel has no nf_tables, or CAP_NET_ADMIN is missing/,
  );
  const end = new AbortController();
  const waiting = state.untilIsolated(add('red/a', LOCKED), end.signal);
  end.abort(new Error('too late'));
  await expect(waiting).rejects.toThrow('too late');
});

it('is no matter of a pod of the default network', async () => {
  const pod = add('plain/a', { default: { ips: ['10.1.1.4/24'], role: 'primary' } });
  expect(state.lackingOf(pod)).toBeUndefined();
  await state.untilIsolated(pod, NEVER);
});

it('does not need what lets the kubelet through', async () => {
  cluster.facts.set('kubeletCgroup', LOCAL, { path: 'kubelet.slice/kubelet.service', level: 2, id: '1' });
  nft.refused = /socket cgroupv2/;
  render();
  loop.start();
  await loop.whenIdle(NEVER);
  expect(
    loop
      .problems()
      .flatMap(({ key = [] }) => key)
      .sort(),
  ).toEqual(['chain udn-host-network-pod-marks', 'chain udn-isolation-kubelet', 'chain udn-management-isolation-pods']);
  expect(state.lackingOnNode()).toBeUndefined();
});
