/** Which endpoints of a port get what is sent on this node, as kube-proxy chooses them (`CategorizeEndpoints`). */
import type { ServicePort } from '../../../api/service.ts';
import type { Family } from '../../../net/ip.ts';
import type { EndpointFact, SliceFact } from '../facts.ts';

/** Where the clients are. */
export interface Topology {
  readonly name: string;
  /** `topology.kubernetes.io/zone`; only looked at for endpoints that are meant for zones. */
  readonly zone: string | undefined;
}

export interface Target {
  readonly endpoint: EndpointFact;
  readonly port: number;
}

export interface Choice {
  /** For the traffic policy `Cluster`. */
  readonly cluster: readonly Target[];
  /** For the traffic policy `Local`: those of this node. */
  readonly local: readonly Target[];
  /** Endpoints are meant for the clients of this place: those of other places have others. */
  readonly isTopological: boolean;
}

/**
 * Those that are ready; where none is, those that still answer while they end (KEP-1669). That is asked for all and for this
 * node's separately: a node with nothing but ending ones goes on to use them for `Local`.
 */
export const chooseEndpoints = (targets: Targets, client: Topology): Choice => {
  const { ready, terminating } = targets;
  const near = meantFor(ready, client);
  const isHere = ({ endpoint }: Target): boolean => endpoint.node === client.name;
  return {
    cluster: firstWithAny(near ?? ready, terminating),
    local: firstWithAny(ready.filter(isHere), terminating.filter(isHere)),
    isTopological: near !== undefined,
  };
};

export interface Targets {
  readonly ready: readonly Target[];
  readonly terminating: readonly Target[];
}

/** Of one port and family. An endpoint that moves from one slice to another is in both for a while. */
export const targetsOf = (
  slices: readonly SliceFact[],
  { name, protocol }: Pick<ServicePort, 'name' | 'protocol'>,
  family: Family,
): Targets => {
  const found = slices.flatMap((slice) => {
    const port = slice.family === family && slice.ports.find((one) => one.name === name && one.protocol === protocol);
    return port ? [{ slice, port: port.port }] : [];
  });
  const at = (condition: 'ready' | 'terminating'): Target[] =>
    found.flatMap(({ slice, port }) => slice[condition].map((endpoint) => ({ endpoint, port })));
  return { ready: at('ready'), terminating: at('terminating') };
};

/**
 * Hints count only when all that are ready have one of the kind, and one is for this place: nodes first (KEP-3015), then zones
 * (KEP-2433). Undefined: they do not count.
 */
const meantFor = (ready: readonly Target[], client: Topology): readonly Target[] | undefined =>
  withHint(
    ready,
    ({ forNodes }) => forNodes,
    () => client.name,
  ) ??
  withHint(
    ready,
    ({ forZones }) => forZones,
    () => client.zone,
  );

const withHint = (
  ready: readonly Target[],
  hint: (endpoint: EndpointFact) => readonly string[] | undefined,
  here: () => string | undefined,
): readonly Target[] | undefined => {
  if (ready.length === 0 || ready.some(({ endpoint }) => hint(endpoint) === undefined)) return undefined;
  const name = here();
  const found = ready.filter(({ endpoint }) => name !== undefined && hint(endpoint)?.includes(name));
  return found.length > 0 ? found : undefined;
};

const firstWithAny = (first: readonly Target[], then: readonly Target[]): readonly Target[] =>
  first.length > 0 ? first : then;
