/** Emits the events of diagnostics: those of pods, Services and nodes. */
import type { FactStore } from '../model/fact-store.ts';
import type { EmitObjectEvent } from './diagnostic-events.ts';
import type { EmitNodeEvent, EmitPodEvent, EmitServiceEvent } from './pod-events.ts';

interface Emits {
  readonly emitPodEvent: EmitPodEvent;
  readonly emitServiceEvent: EmitServiceEvent;
  readonly emitNodeEvent: EmitNodeEvent;
}

export const emitOwnerEvent =
  ({ emitPodEvent, emitServiceEvent, emitNodeEvent }: Emits, facts: Pick<FactStore, 'get'>): EmitObjectEvent =>
  (object, reason, message) => {
    const [kind, namespace = '', name = ''] = object.split('/');
    const key = `${namespace}/${name}`;
    if (kind === 'Node' && (reason === 'NodeIdentityInUse' || reason === 'MTUTooLarge'))
      emitNodeEvent(namespace, reason, message);
    else if (kind === 'Pod' && isPodEvent(reason)) {
      emitPodEvent({ namespace, name, uid: facts.get('pod', key)?.uid }, reason, message);
    } else if (kind === 'Service' && isServiceEvent(reason)) {
      emitServiceEvent({ namespace, name, uid: facts.get('service', key)?.uid }, reason, message);
    }
  };

/** Of diagnostics, as those of Services. */
const POD_EVENTS = [
  'ErrorUpdatingResource',
  'ErrorAllocatingPod',
  'HostPortNotOpen',
  'MachineElsewhere',
  'RequestIgnored',
] as const;

const isPodEvent = (reason: string): reason is (typeof POD_EVENTS)[number] => POD_EVENTS.some((one) => one === reason);

/** Of diagnostics: `agent/features/services/`. */
const SERVICE_EVENTS = ['ExternalAddressInUse', 'ExternalAddressNotAllowed', 'EndpointNotAllowed'] as const;

const isServiceEvent = (reason: string): reason is (typeof SERVICE_EVENTS)[number] =>
  SERVICE_EVENTS.some((one) => one === reason);
