import { expect, it } from 'vitest';
import { nad, netConf } from '../../cluster-manager/testing/objects.ts';
import { ids } from '../why/testing/objects.ts';
import { violationsOf } from './invariants.ts';

const network = nad('red/net', netConf('red/net', 'red_net', { role: 'secondary' }), {
  annotations: ids('red_net', 5),
});

const poolOf = (before: string) => ({
  kind: 'NetworkIdPool',
  metadata: { name: 'cluster' },
  status: {
    given: '5-6',
    retirement: 3,
    retired: [{ id: 5, network: before, retirement: 3, since: '2026-01-01T00:00:00Z' }],
  },
});

const reportOf = (rendering: string) => ({
  kind: 'NodeNetworkReport',
  metadata: { name: 'n1' },
  status: {
    rendering,
    networks: { ready: 0, pending: 0, failed: 0 },
    ids: { ready: '0,6', pending: '', failed: '', leaving: '5' },
  },
});

const found = (...more: readonly unknown[]): readonly string[] =>
  violationsOf([network, ...more]).map(({ rule, message }) => `${rule}: ${message}`);

it('an id that nodes may still have of a deleted network is no other network’s', () => {
  const wrong = 'network-id: network red_net has the id 5, with which nodes may still have network old';
  expect(found(poolOf('old'))).toEqual([wrong]);
  expect(found(poolOf('red_net'))).toEqual([]);
});

it('nor is one of which a node says that something is left, but where it may give up a network that there is', () => {
  const wrong = 'network-id: network red_net has the id 5, with which n1 still has state of an earlier network';
  expect(found(reportOf('Always'))).toEqual([wrong]);
  expect(found(reportOf('OnDemand'))).toEqual([]);
});
