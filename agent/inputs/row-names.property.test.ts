/** Of networks that would have rows of one name, agents and a cluster manager that restarts let the same one be. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { nadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import { ClusterState } from '../../cluster-manager/state/cluster-state.ts';
import { nad, netConf } from '../../cluster-manager/testing/objects.ts';
import type { KubeObject } from '../../kube/types.ts';
import { FactStore } from '../model/fact-store.ts';
import { ownNad, projectNad } from './nad-projection.ts';
import { NetworkIndex } from './network-index.ts';

interface Input {
  readonly key: string;
  readonly network: string;
  readonly id: number;
  readonly day: number;
  readonly isOwn: boolean;
}

const config = parseClusterConfig();

const nadOf = ({ key, network, id, day, isOwn }: Input): KubeObject => {
  const [namespace = '', name = ''] = key.split('/');
  const owner = {
    apiVersion: 'k8s.ovn.org/v1',
    kind: 'UserDefinedNetwork',
    name,
    uid: `${namespace}-${name}`,
    controller: true,
  };
  return nad(key, netConf(key, network, { role: 'secondary' }), {
    uid: key,
    resourceVersion: '1',
    creationTimestamp: `2026-01-0${day}T00:00:00Z`,
    ownerReferences: isOwn ? [owner] : [],
    annotations: { 'k8s.ovn.org/network-id': String(id), 'k8s.ovn.org/network-name': network },
  }) as unknown as KubeObject;
};

const ofAgent = (nads: readonly KubeObject[]): string[] => {
  const facts = new FactStore();
  const index = new NetworkIndex(facts, config);
  for (const one of nads) index.change(undefined, ownNad(projectNad(one)));
  return ['red', 'ext_red'].filter((network) => facts.get('network', network) !== undefined);
};

const ofManager = (nads: readonly KubeObject[]): string[] => {
  const state = new ClusterState(config);
  state.recover({ nads: nads.map((one) => nadFacts(one)), nodes: [], pods: [], labelsOf: () => undefined });
  return ['red', 'ext_red'].filter((network) => state.registry.get(network) !== undefined);
};

it('the older one keeps its names, also where only the younger one was rendered from a network', () => {
  const nads = [
    nadOf({ key: 'ext/red', network: 'ext_red', id: 1, day: 2, isOwn: true }),
    nadOf({ key: 'a/hand', network: 'red', id: 2, day: 1, isOwn: false }),
  ];
  expect([ofAgent(nads), ofManager(nads)]).toEqual([['red'], ['red']]);
});

it('which one that is, both say', () => {
  const day = fc.integer({ min: 1, max: 2 });
  const namespace = fc.constantFrom('a', 'a-b', 'ext');
  fc.assert(
    fc.property(fc.tuple(day, day), fc.tuple(namespace, fc.boolean()), fc.boolean(), (days, [hand, isFirst], isOwn) => {
      const nads = [
        nadOf({ key: 'ext/red', network: 'ext_red', id: 1, day: days[0], isOwn }),
        nadOf({ key: `${hand}/hand`, network: 'red', id: 2, day: days[1], isOwn: false }),
      ];
      const inOrder = isFirst ? nads : nads.toReversed();
      expect(ofManager(inOrder)).toEqual(ofAgent(inOrder));
    }),
  );
});

it('of one second it is the one whose namespace comes first', () => {
  const nads = [
    nadOf({ key: 'a-b/x', network: 'ext_red', id: 1, day: 1, isOwn: false }),
    nadOf({ key: 'a/x', network: 'red', id: 2, day: 1, isOwn: false }),
  ];
  expect([ofAgent(nads), ofManager(nads)]).toEqual([['red'], ['red']]);
});
