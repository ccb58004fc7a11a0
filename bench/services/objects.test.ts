import { expect, it } from 'vitest';
import { staticCaches } from '../render/static-caches.ts';
import { ENDPOINTS_OF_EACH, serviceKey, serviceObjects, sliceObject } from './objects.ts';

const SERVICES = 1_200;
const caches = staticCaches(serviceObjects(SERVICES));

it('every Service has a ClusterIP of its own, and a slice', () => {
  const services = [...caches.services.values()];
  expect(new Set(services.flatMap(({ clusterIps }) => clusterIps)).size).toBe(SERVICES);
  const slices = services.map(({ namespace, name }) => caches.slices.byIndex('service', `${namespace}/${name}`));
  expect(slices.filter((found) => found.length !== 1)).toEqual([]);
  expect(caches.services.has(serviceKey(SERVICES - 1))).toBe(true);
});

it('every endpoint has an address of its own, also those that are added', () => {
  const addresses = Array.from({ length: SERVICES }, (_, index) => sliceObject(index, ENDPOINTS_OF_EACH + 1)).flatMap(
    ({ endpoints }) => (endpoints as { addresses: string[] }[]).flatMap((endpoint) => endpoint.addresses),
  );
  expect(new Set(addresses).size).toBe(SERVICES * (ENDPOINTS_OF_EACH + 1));
});
