/** Services and their slices, as the agent's mirrors have them. */
import { projectNamespace } from '../../agent/inputs/namespace-projection.ts';
import { projectService } from '../../agent/inputs/service-projection.ts';
import { projectSlice, SLICE_INDEXES, type SliceProjection } from '../../agent/inputs/slice-projection.ts';
import type { NamespaceFact, ServiceFact } from '../../agent/model/facts.ts';
import { keyOf } from '../../kube/object-key.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { serviceNamespaces } from '../services/objects.ts';
import { mixedService, mixedSlice } from '../services/published-objects.ts';

export const openServiceCaches = (count: number) => {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const services = createStaticCache<ServiceFact>(numbers.map(projectedService));
  const slices = createStaticCache<SliceProjection, 'service'>(
    numbers.map((number) => projectedSlice(number)),
    SLICE_INDEXES,
  );
  return {
    services,
    slices,
    setEndpoints: (service: number, endpoints: number): void => slices.set(...projectedSlice(service, endpoints)),
  };
};

/** In which such Services are. */
export const namespacesOfServices = (count: number): [string, NamespaceFact][] =>
  (count === 0 ? [] : serviceNamespaces()).map((object) => [object.metadata.name, projectNamespace(object)]);

const projectedService = (number: number): [string, ServiceFact] => {
  const object = mixedService(number);
  const fact = projectService(object);
  if (fact === undefined) throw new Error('no Service that is to be programmed');
  return [keyOf(object), fact];
};

const projectedSlice = (number: number, endpoints?: number): [string, SliceProjection] => {
  const object = mixedSlice(number, endpoints);
  const projection = projectSlice(object);
  if (projection === undefined || projection.problems.length > 0) throw new Error('the slice cannot be read');
  return [keyOf(object), projection];
};
