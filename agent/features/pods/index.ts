/**
 * Ports of pods. A pod of this node has one for each of its networks; a pod of another node has one only on switches
 * that span the nodes. The rows are written as soon as the pod has its addresses, before the container runtime asks, so
 * that CNI ADD has only the interface left to plug.
 */
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { merge } from '../shared/ovn/merge.ts';
import { podPort } from './pod-port.ts';

export const pods: FeatureOver<'pod'> = {
  name: 'pods',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    if (pod === undefined || pod.finished || pod.hostNetwork || pod.node === undefined) return EMPTY_FRAGMENT;
    const ports = [...pod.networks].map(([nadKey, entry]) => podPort(pod, nadKey, entry, view));
    return { northbound: merge(...ports) };
  },
};
