import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { nad, netConf } from '../testing/objects.ts';
import { ClusterState } from './cluster-state.ts';

it('a NAD hears of it when an older one comes that it contradicts, and no more when that one is gone', () => {
  const state = new ClusterState(parseClusterConfig());
  const shared = (key: string, creationTimestamp: string, topology: string) =>
    nadFacts(
      nad(key, netConf(key, 'shared', { topology, role: 'secondary', subnets: '10.9.0.0/16' }), { creationTimestamp }),
    );
  state.upsertNad(shared('a/young', '2026-01-02T00:00:00Z', 'layer3'));
  expect(state.nadProblems.get('a/young')).toBeUndefined();
  const { nads } = state.upsertNad(shared('b/old', '2026-01-01T00:00:00Z', 'layer2'));
  expect(nads).toContain('a/young');
  expect([...state.nadProblems]).toEqual([
    ['a/young', ['CNI config does not match that of network shared, which b/old defines']],
  ]);
  state.removeNad('b/old');
  expect([...state.nadProblems]).toEqual([]);
  expect(state.registry.networkOfNad('a/young')?.network.topology).toBe('layer3');
});
