/** Follows neighbours outside in a running agent. */
import type { Logger } from 'pino';
import type { FactStore } from '../../model/fact-store.ts';
import type { Edges } from '../../wiring/edges.ts';
import { followNeighbours } from './follow-neighbours.ts';

/** @returns what ends it */
export const startNeighbours = (
  facts: FactStore,
  node: string,
  { databases }: Pick<Edges, 'databases'>,
  log: Logger,
): (() => void) => {
  const child = log.child({ module: 'neighbours' });
  return followNeighbours({
    node,
    facts,
    replica: databases.neighbours,
    session: databases.southbound.session,
    onCorrected: ({ ip, mac, routers }) =>
      child.info({ ip, mac, routers }, 'MAC of a neighbour written to gateway routers'),
    onError: (error) => child.warn({ err: error }, 'MAC of a neighbour not written to gateway routers'),
  });
};
