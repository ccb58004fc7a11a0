/** Programs the node's own ports for Services and pods, and reports to their owners what is in the way. */
import type { Clock } from '../../base/clock.ts';
import type { ItemSink } from '../desired/engine.ts';
import type { Problem } from '../inputs/problem.ts';
import { type NodePortItem, type NodePortOwner, nodePortKey, ownerOf } from '../model/node-ports.ts';
import { type LoopObservation, ReconcileLoop } from '../reconcile/reconcile-loop.ts';
import { NodePortBackend, type NodePortEdges } from './backend.ts';
import { readListeners } from './listeners.ts';

export interface NodePortsOptions extends Pick<NodePortEdges, 'isHealthy'> {
  readonly node: string;
  readonly clock: Clock;
  /** Once for each thing that is in the way. */
  readonly report: (owner: NodePortOwner, reason: NodePortEventReason, message: string) => void;
  readonly observe: (observation: LoopObservation) => void;
  /** Default: of this process' network namespace. */
  readonly readListeners?: NodePortEdges['readListeners'];
}

export interface NodePorts {
  readonly sink: ItemSink<NodePortItem>;
  /** To be called when the whole desired state is known. */
  start(): void;
  /** What is in the way now, by owner. */
  problems(): Problem[];
  /** How many health-check servers there are. */
  serving(): number;
  /** How many things are in the way. */
  clashes(): number;
  /** Ends, and closes all servers. */
  stop(): Promise<void>;
}

export const openNodePorts = (options: NodePortsOptions): NodePorts => {
  const { node, clock, report, observe } = options;
  const backend = new NodePortBackend(node, { readListeners, ...options });
  const loop = new ReconcileLoop({ keyOf: nodePortKey, backend, clock, observe });
  const { store, counts } = loop;
  loop.onLook((changed) => {
    for (const key of changed) {
      const item = store.desired.get(key);
      const { kind, message } = loop.statusOf(key);
      if (item !== undefined && kind !== 'pending' && message !== undefined)
        report(ownerOf(item), REASONS[item.kind], message);
    }
  });
  return {
    sink: store,
    start: () => loop.start(),
    problems: () =>
      loop.problems().flatMap(({ key = '', status: { kind, message } }): Problem[] => {
        const item = store.desired.get(key);
        if (item === undefined || kind === 'pending' || message === undefined) return [];
        return [{ object: ownerOf(item), message, severity: 'warning', cause: 'service-port-taken' }];
      }),
    serving: () => backend.serving,
    clashes: () => counts.failed + counts.waiting,
    stop: () => loop.stop(),
  };
};

/** The first as kube-proxy has it, the other as ovn-kubernetes. */
const REASONS = { 'health-check': 'FailedToStartServiceHealthcheck', claim: 'PortClaim' } as const;
type NodePortEventReason = (typeof REASONS)[keyof typeof REASONS];
