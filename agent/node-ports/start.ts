/** The ports of Services, put together with what the agent holds. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { LoopObservation } from '../reconcile/reconcile-loop.ts';
import type { Probes } from '../status/probes.ts';
import type { Edges } from '../wiring/edges.ts';
import { type NodePorts, openNodePorts } from './node-ports.ts';

export interface NodePortParts {
  readonly edges: Pick<Edges, 'inputs' | 'metrics' | 'emitServiceEvent'>;
  /** Its name. */
  readonly node: string;
  readonly probes: Probes;
  readonly log: Logger;
}

/** Nothing is opened before `start`. @param resources closes everything when the agent ends */
export const serveNodePorts = (
  { edges: { inputs, metrics, emitServiceEvent }, node, probes, log }: NodePortParts,
  resources: AsyncDisposableStack,
): NodePorts => {
  const child = log.child({ module: 'node-ports' });
  const ports = openNodePorts({
    node,
    clock: systemClock,
    isHealthy: () => probes.proxying().length === 0,
    report: (service, reason, message) => {
      child.warn({ key: service, reason: message }, 'a port of a Service is not programmed');
      const [namespace = '', name = ''] = service.split('/');
      emitServiceEvent({ namespace, name, uid: inputs.services.get(service)?.uid }, reason, message);
    },
    observe: (observation) => logObservation(child, observation),
  });
  resources.defer(() => ports.stop());
  metrics.gauge('udn_agent_service_health_servers', () => ports.serving());
  metrics.gauge('udn_agent_service_port_clashes', () => ports.clashes());
  return ports;
};

const logObservation = (log: Logger, observation: LoopObservation): void => {
  if (observation.kind === 'failed')
    log.warn({ err: observation.error }, 'listening sockets of this node cannot be read');
  else if (observation.kind === 'reconciled' && observation.written > 0) {
    log.debug({ written: observation.written }, 'health checks opened or closed');
  }
};
