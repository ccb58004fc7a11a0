/** Attachments of a pod that would be one port: names of ports have a dot for `-` and `/` (`nadPrefix` of api/names.ts). Pure. */
import { type PodFact, podKey } from '../../model/facts.ts';
import { podPortName } from '../../model/names.ts';
import type { DesiredAttachment } from './selected.ts';

/** @param attachments all of the pod's @returns a message for each that has the port name of an earlier one */
export const samePortNames = (pod: PodFact, attachments: readonly DesiredAttachment[]): readonly string[] => {
  const first = new Map<string, DesiredAttachment>();
  return attachments.flatMap((one) => {
    const port = podPortName(one.nadKey, pod.namespace, pod.name);
    const other = first.get(port);
    if (other === undefined) {
      first.set(port, one);
      return [];
    }
    return `${one.nadKey} as ${one.interfaceName}: its port name ${port} is that of ${other.nadKey} as ${other.interfaceName} in pod ${podKey(pod)}; rename one of the NetworkAttachmentDefinitions`;
  });
};
