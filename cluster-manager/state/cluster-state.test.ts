import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { nodeFacts } from '../facts/node-facts.ts';
import { podFacts } from '../facts/pod-facts.ts';
import { nad, netConf, node, pod } from '../testing/objects.ts';
import { ClusterState } from './cluster-state.ts';
import type { Sources } from './sources.ts';

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

describe('what is there again has what it had, in the turn in which it comes', () => {
  const NOBODY: Sources = {
    podsUsing: () => [],
    adoptedNads: () => [],
    nodes: () => [],
    labelsOf: () => ({}),
    network: () => undefined,
  };

  it('nodes of a layer-3 network: of two that say the same the older one', () => {
    const layer3 = { topology: 'layer3', role: 'secondary', subnets: '10.9.0.0/16/24' };
    const withSubnet = (name: string, subnet: string, creationTimestamp: string) =>
      nodeFacts(node(name, { 'k8s.ovn.org/node-subnets': `{"blue":["${subnet}"]}` }, { creationTimestamp }));
    const nodes = [
      withSubnet('a-young', '10.9.7.0/24', '2026-01-02T00:00:00Z'),
      withSubnet('b-old', '10.9.7.0/24', '2026-01-01T00:00:00Z'),
      withSubnet('c-unknown', '10.9.0.0/24', '2026-01-01T00:00:00Z'),
    ];
    const state = new ClusterState(parseClusterConfig(), { sources: { ...NOBODY, nodes: () => nodes } });
    for (const one of nodes.slice(0, 2)) state.upsertNode(one);
    state.upsertNad(nadFacts(nad('b/blue', netConf('b/blue', 'blue', layer3))));
    expect(state.nodes.subnetsOf('b-old', 'blue')).toEqual(['10.9.7.0/24']);
    expect(state.nodes.subnetsOf('a-young', 'blue')).toEqual(['10.9.0.0/24']);
    expect(state.nodes.subnetsOf('c-unknown', 'blue')).toBeUndefined();
  });

  it('pods of a layer-2 network, and of a NAD that joins one that is there', () => {
    const layer2 = { role: 'secondary', subnets: '10.9.0.0/24' };
    const facts = (key: string) => nadFacts(nad(key, netConf(key, 'blue', layer2)));
    const running = (key: string, nadKey: string, ip: string) => {
      const entry = { ip_addresses: [`${ip}/24`], mac_address: `0a:58:0a:09:00:0${ip.at(-1)}`, role: 'secondary' };
      const annotations = {
        'k8s.v1.cni.cncf.io/networks': nadKey,
        'k8s.ovn.org/pod-networks': JSON.stringify({ [nadKey]: entry }),
      };
      return podFacts(pod(key, { annotations }));
    };
    const pods = new Map([
      ['b/blue', [running('b/p', 'b/blue', '10.9.0.2')]],
      ['a/red', [running('a/p', 'a/red', '10.9.0.3')]],
    ]);
    const podsUsing = (nadKey: string) => pods.get(nadKey) ?? [];
    const state = new ClusterState(parseClusterConfig(), { sources: { ...NOBODY, podsUsing } });
    const next = (key: string): unknown => {
      const asking = podFacts(pod(key, { annotations: { 'k8s.v1.cni.cncf.io/networks': 'b/blue' } }));
      return Object.values(state.planPod(asking, {}).entries)[0];
    };
    state.upsertNad(facts('b/blue'));
    expect(next('b/1')).toMatchObject({ ip_address: '10.9.0.1/24' });
    state.upsertNad(facts('a/red'));
    expect(next('b/2')).toMatchObject({ ip_address: '10.9.0.4/24' });
    state.removeNad('b/blue');
    state.removeNad('a/red');
    state.upsertNad(facts('b/blue'));
    expect(next('b/3')).toMatchObject({ ip_address: '10.9.0.1/24' });
    expect(next('b/4')).toMatchObject({ ip_address: '10.9.0.3/24' });
  });
});
