/** The columns of Pods (k8s.io/kubernetes pkg/printers/internalversion printPod). */
import { type JsonRecord, recordOr } from '../../is-record.ts';
import type { Column } from '../definitions/types.ts';
import { AGE, at, listAt, NAME, text } from './cells.ts';

export const POD_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Ready', type: 'string', value: (pod) => readiness(pod) },
  { name: 'Status', type: 'string', value: (pod) => podStatus(pod) },
  { name: 'Restarts', type: 'string', value: (pod) => String(restarts(pod)) },
  AGE,
  { name: 'IP', type: 'string', priority: 1, value: (pod) => text(at(pod, 'status.podIP')) },
  { name: 'Node', type: 'string', priority: 1, value: (pod) => text(at(pod, 'spec.nodeName')) },
  { name: 'Nominated Node', type: 'string', priority: 1, value: (pod) => text(at(pod, 'status.nominatedNodeName')) },
  { name: 'Readiness Gates', type: 'string', priority: 1, value: (pod) => text(at(pod, 'spec.readinessGates')) },
];

const readiness = (pod: JsonRecord): string => {
  const ready = listAt(pod, 'status.containerStatuses').filter((status) => status['ready'] === true);
  return `${ready.length}/${listAt(pod, 'spec.containers').length}`;
};

const restarts = (pod: JsonRecord): number =>
  listAt(pod, 'status.containerStatuses').reduce((sum, status) => sum + Number(status['restartCount'] ?? 0), 0);

/** The phase, or what is more telling: why a container waits or has ended, and whether the pod is being deleted. */
const podStatus = (pod: JsonRecord): string => {
  if (at(pod, 'metadata.deletionTimestamp') !== undefined) return 'Terminating';
  const reasons = listAt(pod, 'status.containerStatuses').flatMap((status) => {
    const state = recordOr(status['state']);
    const reason = recordOr(state['waiting'])['reason'] ?? recordOr(state['terminated'])['reason'];
    return typeof reason === 'string' && reason !== '' ? [reason] : [];
  });
  return reasons[0] ?? String(at(pod, 'status.reason') ?? at(pod, 'status.phase') ?? 'Unknown');
};
