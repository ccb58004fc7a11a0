import { expect, it } from 'vitest';
import { feedFacts } from '../../agent/inputs/fact-feeder.ts';
import { FactStore } from '../../agent/model/fact-store.ts';
import { clusterObjects, podObject } from './objects.ts';
import { SETTINGS } from './settings.ts';
import { staticCaches } from './static-caches.ts';

it('every pod has the two networks that its annotation says: one with addresses of others would have no port', () => {
  const facts = new FactStore();
  const more = podObject(1, 127, 'new-1');
  feedFacts(facts, staticCaches([...clusterObjects(40, 10), more]), SETTINGS);
  const pods = Array.from({ length: 40 }, (_, index) => index + 1).flatMap((tenant) =>
    Array.from({ length: 10 }, (_, index) => podObject(tenant, index)),
  );
  const incomplete = [...pods, more].filter(({ metadata: { namespace, name } }) => {
    const fact = facts.get('pod', `${namespace}/${name}`);
    return fact?.networks.size !== 2 || fact.refused !== undefined || fact.barred !== undefined;
  });
  expect(incomplete.map(({ metadata }) => metadata.name)).toEqual([]);
});
