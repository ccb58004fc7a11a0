/** What CHECK finds wrong with a pod, beside its interfaces. Pure. */
import type { PodAttachments } from '../model/attachments.ts';
import { podPortName } from '../model/names.ts';
import type { PluggedPort, PortSpec } from './ovs-ports.ts';

/**
 * A pod that waits, or is refused, has less to compare, and is not as it should be.
 * @param expected of its attachments @param plugged of its sandbox
 */
export const portDifferences = (
  { pod, attachments, held, waitingFor, refused }: PodAttachments,
  expected: readonly PortSpec[],
  plugged: readonly PluggedPort[],
): string[] => {
  const byName = new Map(plugged.map((port) => [port.name, port]));
  const installed = new Set(plugged.filter((port) => port.isInstalled).map((port) => port.logicalPort));
  const attached = new Set(attachments.map(({ nadKey }) => nadKey));
  const kept = held
    .filter(({ nadKey }) => !attached.has(nadKey))
    .map(({ nadKey }) => podPortName(nadKey, pod.namespace, pod.name));
  const unaddressed = attachments.filter(({ nadKey }) => !pod.networks.has(nadKey));
  return [
    ...(pod.barred === undefined ? [] : [pod.barred]),
    ...(refused === undefined ? [] : [refused]),
    ...(waitingFor === undefined ? [] : [`waits: ${waitingFor}`]),
    ...unaddressed.map(({ network, interfaceName }) => `${interfaceName} has no entry of network ${network.name}`),
    ...expected.flatMap(({ name, logicalPort }) =>
      byName.get(name)?.isInstalled === true ? [] : [`port ${name} of ${logicalPort} is not installed`],
    ),
    ...kept.flatMap((logicalPort) => (installed.has(logicalPort) ? [] : [`port of ${logicalPort} is not installed`])),
  ];
};
