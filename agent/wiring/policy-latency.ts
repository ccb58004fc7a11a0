/** Measures how long policies take, from the mirrors that hear of them. */
import { systemClock } from '../../base/clock.ts';
import { PolicyLatency } from '../metrics/policy-latency.ts';
import type { Core } from './core.ts';
import type { Edges } from './edges.ts';

interface Parts {
  readonly edges: Pick<Edges, 'inputs' | 'databases' | 'metrics'>;
  readonly core: Pick<Core, 'feeder'>;
}

export const startPolicyLatency = ({ edges, core }: Parts, resources: AsyncDisposableStack): void => {
  const { reconciler } = edges.databases.northbound;
  const latency = new PolicyLatency({
    clock: systemClock,
    isHolding: () => core.feeder.policies.isHolding,
    northbound: { depth: () => reconciler.queue().depth, whenIdle: (signal) => reconciler.whenIdle(signal) },
    observe: edges.metrics.policiesWritten,
  });
  resources.defer(() => latency.stop());
  const { policies, multi, admin } = edges.inputs.policies;
  for (const cache of [policies, multi, ...Object.values(admin)])
    if (cache !== undefined) resources.defer(cache.subscribe(() => latency.heard()));
};
