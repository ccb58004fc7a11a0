/** What is answered of a packet is what the APIs say of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isAllowed, probesOf } from '../../inputs/policies/admin/naive-evaluator.suite.ts';
import { apply, beginWorld, event, type Objects } from '../../inputs/policies/admin/random-policies.suite.ts';
import type { PolicyPod } from '../../inputs/policies/types.ts';
import type { FactStore } from '../../model/fact-store.ts';
import { noPolicies } from '../testing/no-policies.ts';
import { reportPodEnd } from './pod-end.ts';
import type { PolicyReportSources } from './sources.ts';

it('decides what a naive evaluator decides', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 10, maxLength: 40 }), (events) => {
      const { world, objects } = beginWorld();
      for (const one of events) apply(one, world, objects);
      const sources = sourcesOf(world.facts, objects);
      const wrong = [...objects.pods.keys()]
        .flatMap((at) => probesOf(at, objects))
        .filter((probe) => {
          const { at, direction, ip, protocol, port } = probe;
          const { verdict } = reportPodEnd(sources, { pod: at, direction, peer: ip, packet: { protocol, port } });
          return !(isAllowed(probe, objects) ? ['allowed', 'open'] : ['denied']).includes(verdict);
        });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

const sourcesOf = (facts: FactStore, objects: Objects): PolicyReportSources => ({
  facts,
  reconcilers: new Map(),
  ...noPolicies,
  policyLookup: { ...noPolicies.policyLookup, pod: (key) => podOf(key, objects) },
});

const podOf = (key: string, { pods }: Objects): PolicyPod | undefined => {
  const [namespace = '', name = ''] = key.split('/');
  const { labels = {}, isLocal = false, finished = false } = pods.get(key) ?? {};
  return pods.has(key)
    ? { ...{ namespace, name, labels, isLocal, finished, ports: [] }, addresses: new Map() }
    : undefined;
};
