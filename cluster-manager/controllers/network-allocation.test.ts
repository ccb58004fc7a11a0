import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { udnFacts } from '../facts/network-facts.ts';
import { ClusterState } from '../state/cluster-state.ts';
import { layer2Udn, nad, netConf } from '../testing/objects.ts';
import { networkAllocation } from './network-allocation.ts';

it('a network has not got what only others of its name have', () => {
  const state = new ClusterState(parseClusterConfig());
  const facts = udnFacts(layer2Udn('a/net', ['10.20.0.0/16']));
  const note = (key: string, subnets: string, creationTimestamp: string): unknown =>
    state.upsertNad(nadFacts(nad(key, netConf(key, 'a_net', { subnets }), { creationTimestamp })));
  expect(networkAllocation(facts, ['a/net'], state)).toBeUndefined();
  note('x/old', '10.99.0.0/16', '2026-01-01T00:00:00Z');
  expect(networkAllocation(facts, ['a/net'], state)).toBeUndefined();
  note('a/net', '10.20.0.0/16', '2026-01-02T00:00:00Z');
  expect(networkAllocation(facts, ['a/net'], state)).toMatchObject({
    condition: {
      type: 'NetworkAllocationSucceeded',
      status: 'False',
      message: 'CNI config does not match that of network a_net, which x/old defines',
    },
    fields: {},
  });
  state.removeNad('x/old');
  expect(networkAllocation(facts, ['a/net'], state)).toMatchObject({
    condition: { status: 'True' },
    fields: { networkName: 'a_net', networkID: 1, subnets: ['10.20.0.0/16'] },
  });
});
