/**
 * Ports of pods. A pod of this node has one for each of its networks; a pod of another node has one only on switches
 * that span the nodes. The rows are written as soon as the pod has its addresses, before the container runtime asks, so
 * that CNI ADD has only the interface left to plug.
 */
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { merge } from '../shared/ovn/merge.ts';
import { podPort } from './pod-port.ts';

export const pods: FeatureOver<'pod'> = {
  name: 'pods',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    if (pod === undefined || pod.finished || pod.hostNetwork || pod.node === undefined) return EMPTY_FRAGMENT;
    const ports = [...pod.networks].map(([nadKey, entry]) => podPort(pod, nadKey, entry, view));
    const northbound = merge(...ports);
    if (pod.standby === undefined || pod.node !== view.node) return { northbound };
    return { northbound, diagnostics: [...pod.standby].map((one) => closedPort(key, one)) };
  },
};

/** Usual while a machine moves; a pod that keeps a closed port has another one's labels, or its machine does not come. */
const closedPort = (key: string, [nadKey, holder]: readonly [string, string]): Diagnostic => ({
  object: `Pod/${key}`,
  severity: 'info',
  cause: 'machine-elsewhere',
  message: `its port on ${nadKey} is closed: pod ${holder} of the same virtual machine has its addresses`,
  event: 'MachineElsewhere',
  eventAfterMs: MOVED_LONG_AGO_MS,
});

/** Longer than most migrations. */
const MOVED_LONG_AGO_MS = 600_000;
