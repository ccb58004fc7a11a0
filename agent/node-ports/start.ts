/** The ports of Services and pods, put together with what the agent holds. */
import type { Logger } from 'pino';
import { systemClock } from '../../base/clock.ts';
import type { LoopObservation } from '../reconcile/reconcile-loop.ts';
import type { Probes } from '../status/probes.ts';
import type { Edges } from '../wiring/edges.ts';
import { type NodePorts, openNodePorts } from './node-ports.ts';

export interface NodePortParts {
  readonly edges: Pick<Edges, 'inputs' | 'metrics' | 'emitPodEvent' | 'emitServiceEvent'>;
  /** Its name. */
  readonly node: string;
  readonly probes: Probes;
  readonly log: Logger;
}

/** Nothing is opened before `start`. @param resources closes everything when the agent ends */
export const serveNodePorts = (
  { edges: { inputs, metrics, emitPodEvent, emitServiceEvent }, node, probes, log }: NodePortParts,
  resources: AsyncDisposableStack,
): NodePorts => {
  const child = log.child({ module: 'node-ports' });
  const ports = openNodePorts({
    node,
    clock: systemClock,
    isHealthy: () => probes.proxying().length === 0,
    report: (owner, reason, message) => {
      child.warn({ key: owner, reason: message }, 'a port of the node is in the way of its owner, or not programmed');
      const [kind, namespace = '', name = ''] = owner.split('/');
      const key = `${namespace}/${name}`;
      if (kind === 'Service') {
        emitServiceEvent({ namespace, name, uid: inputs.services.get(key)?.uid }, reason, message);
      } else if (reason === 'PortClaim') {
        emitPodEvent({ namespace, name, uid: inputs.pods.get(key)?.fact.uid }, reason, message);
      }
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
