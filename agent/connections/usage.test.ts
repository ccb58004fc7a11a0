import { expect, it } from 'vitest';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import type { ZoneLimit } from '../../datapath/conntrack/conntrack.ts';
import { watchConnections } from './usage.ts';
import { type ZoneOwner, zoneNames, zoneOwners } from './zone-owners.ts';

const OWNERS = new Map<string, ZoneOwner>([
  ['GR_red_node-1_snat', { network: 'red' }],
  ['red_red_a', { network: 'red', pod: 'red/a' }],
]);
const NAMES = new Map([
  [7, 'GR_red_node-1_snat'],
  [8, 'red_red_a'],
  [9, 'somebody'],
]);

const setup = () => {
  const clock = createFakeClock();
  const reported: string[] = [];
  const errors: unknown[] = [];
  let zones: readonly ZoneLimit[] = [];
  let asked = 0;
  const usage = watchConnections({
    node: 'node-1',
    limits: () => (zones.length === 0 ? Promise.reject(new Error('no ovs-vswitchd')) : Promise.resolve(zones)),
    names: () => {
      asked += 1;
      return Promise.resolve(NAMES);
    },
    owners: () => OWNERS,
    clock,
    report: (_owner, message) => reported.push(message),
    onError: (error) => errors.push(error),
  });
  const look = async (...counts: readonly [zone: number, count: number][]): Promise<void> => {
    zones = counts.map(([zone, count]) => ({ zone, count, limit: 100 }));
    await clock.advance(15_000);
  };
  return { usage, reported, errors, look, asked: () => asked, clock };
};

it('reports a zone that is nearly full once, until it was not any more', async () => {
  const { usage, reported, look, asked } = setup();
  await look([7, 60], [8, 0]);
  expect([reported, asked()]).toEqual([[], 0]);
  await look([7, 80]);
  await look([7, 99]);
  await look([7, 75]);
  expect(reported).toEqual([
    'network red has 80 of the 100 connections allowed on node node-1; at the limit new ones are dropped',
  ]);
  expect([...usage.nearlyFull()]).toEqual([['red', 0.75]]);
  await look([7, 69]);
  expect([...usage.nearlyFull()]).toEqual([]);
  expect(usage.problems()).toEqual([]);
  await look([7, 75]);
  await look([7, 81]);
  expect(reported).toHaveLength(2);
});

it('names the pod of a full port, and has the fullest zone of a network as its metric', async () => {
  const { usage, reported, look } = setup();
  await look([7, 85], [8, 100], [9, 100], [10, 100]);
  expect(reported[1]).toContain('pod red/a on network red has 100 of the 100');
  expect([...usage.nearlyFull()]).toEqual([['red', 1]]);
  expect(usage.problems()).toHaveLength(2);
});

it('goes on after the datapath did not answer, and keeps what it knew', async () => {
  const { usage, errors, look, clock } = setup();
  await look([7, 90]);
  await look();
  expect(errors.length).toBeGreaterThan(0);
  expect([...usage.nearlyFull()]).toEqual([['red', 0.9]]);
  usage.stop();
  expect(clock.pending).toBe(0);
});

it('knows zones as ovn-controller names them', () => {
  expect([...zoneNames({ 'ct-zone-GR_red_red_node-1_snat': '34', 'ovn-startup-ts': '1' })]).toEqual([
    [34, 'GR_red_red_node-1_snat'],
  ]);
  const owners = zoneOwners(['default', 'red_red'], [], 'node-1');
  expect(owners.get('GR_red_red_node-1_snat')).toEqual({ network: 'red_red' });
  expect(owners.get('ovn_cluster_router_dnat')).toEqual({ network: 'default' });
  expect(owners.get('k8s-red_red_node-1')).toEqual({ network: 'red_red' });
});
