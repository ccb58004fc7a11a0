/**
 * Which virtual machine of its namespace a pod belongs to. KubeVirt's label with a machine's name has the host name, cut at the first dot:
 * `db.eu` and `db.us` both have `db`, and so has every machine whose `spec.hostname` says so. The UID of the VirtualMachineInstance, which
 * all of its pods have, tells them apart. Pods that have a name alone, which KubeVirt makes none of, are told apart by that.
 */
import { KUBEVIRT } from './names.ts';

/** @returns text to compare, and for messages; undefined of a pod that is no machine's */
export const machineIdentity = (labels: Readonly<Record<string, string>> = {}): string | undefined => {
  const { [KUBEVIRT.hostName]: name, [KUBEVIRT.createdBy]: uid = '' } = labels;
  return name === undefined || uid === '' ? name : `${name} (${uid})`;
};
