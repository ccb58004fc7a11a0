/** Kubernetes Events for the owners of pods, Services and nodes. */
import type { EventRecorder } from '../../kube/events/types.ts';

export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/**
 * `ErrorAllocatingPod`: it has no address. `ErrorAttachingPod`: it has not been plugged, or is not any more. `ErrorUpdatingResource`: its
 * annotation cannot be read, so nothing is open, or that with its network-status cannot be written. `AnnotationRepaired`: its networks could not be read, and were written again.
 * `ConnectionLimitNear`: it has nearly all connections that it may have. `HostPortNotOpen`: a port of the node that it asks for is somebody
 * else's, or cannot be. `MachineElsewhere`: another pod of its virtual machine has had its addresses for minutes. `PortClaim`: a process of the node listens where it has one.
 * `RequestIgnored`: it is on the network of its node, where what it selects has no effect.
 */
export type PodEventReason =
  | 'AnnotationRepaired'
  | 'ConnectionLimitNear'
  | 'ErrorAllocatingPod'
  | 'ErrorAttachingPod'
  | 'ErrorUpdatingResource'
  | 'HostPortNotOpen'
  | 'MachineElsewhere'
  | 'PortClaim'
  | 'RequestIgnored';

export type EmitPodEvent = (pod: PodIdentity, reason: PodEventReason, message: string) => void;

export const podEvents =
  (recorder: Pick<EventRecorder, 'record'>): EmitPodEvent =>
  ({ namespace, name, uid }, reason, message) =>
    recorder.record({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      type: reason === 'AnnotationRepaired' ? 'Normal' : 'Warning',
      reason,
      message,
    });

/**
 * `ExternalAddressInUse`: an older one has the address and port. `ExternalAddressNotAllowed`: it is inside the cluster.
 * `EndpointNotAllowed`: on the default network, it is a pod with a primary one. `FailedToStartServiceHealthcheck`: load balancers cannot ask this node. `PortClaim`: a process of the node listens where a
 * Service is.
 */
export type ServiceEventReason =
  | 'ExternalAddressInUse'
  | 'ExternalAddressNotAllowed'
  | 'EndpointNotAllowed'
  | 'FailedToStartServiceHealthcheck'
  | 'PortClaim';

export type EmitServiceEvent = (service: PodIdentity, reason: ServiceEventReason, message: string) => void;

export const serviceEvents =
  (recorder: Pick<EventRecorder, 'record'>): EmitServiceEvent =>
  ({ namespace, name, uid }, reason, message) =>
    recorder.record({
      regarding: { apiVersion: 'v1', kind: 'Service', namespace, name, uid },
      type: 'Warning',
      reason,
      message,
    });

/**
 * `ConnectionLimitNear`: a network has nearly all connections that it may have on the node. `NodeIdentityInUse`: an older node has
 * its chassis, an id or an address. `ComponentFailed`: what the node's networks need beside the agent does not work; `udnctl status`.
 * `MTUTooLarge`: packets of the default network do not fit its tunnels.
 */
export type NodeEventReason =
  | 'ComponentFailed'
  | 'ConnectionLimitNear'
  | 'MTUTooLarge'
  | 'NodeIdentityInUse'
  | 'UDNKubeletProbesNotSupported';

export type EmitNodeEvent = (node: string, reason: NodeEventReason, message: string) => void;

export const nodeEvents =
  (recorder: Pick<EventRecorder, 'record'>): EmitNodeEvent =>
  (name, reason, message) =>
    recorder.record({
      // As the kubelet's own events of its node have it: the name in place of the UID.
      regarding: { apiVersion: 'v1', kind: 'Node', name, uid: name },
      type: 'Warning',
      reason,
      message,
    });
