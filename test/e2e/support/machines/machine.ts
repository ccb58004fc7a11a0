/** What KubeVirt makes of a virtual machine, as far as networks see it: pods that share its addresses, and what it says of them. */
import { KUBEVIRT, POD_ANNOTATIONS } from '../../../../api/names.ts';
import { PODS } from '../../../../kube/resources.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { pod } from '../cluster/manifests.ts';

/** A pod that a machine of its namespace runs in, or is to run in. @param networks that it selects */
export const launcher = (
  inNamespace: string,
  name: string,
  node: string,
  { machine, networks }: { readonly machine: string; readonly networks?: string },
): ManifestObject => {
  const made = pod(inNamespace, name, node, {
    [KUBEVIRT.migratesWithAddress]: '',
    ...(networks !== undefined && { [POD_ANNOTATIONS.selection]: networks }),
  });
  return {
    ...made,
    metadata: { ...made.metadata, labels: { [KUBEVIRT.hostName]: machine, [KUBEVIRT.createdBy]: `uid-of-${machine}` } },
  };
};

/** KubeVirt says of the target that the machine runs there now. */
export const moveTo = async (sandbox: Sandbox, key: string): Promise<void> => {
  const [namespace = '', name = ''] = key.split('/');
  const body = { metadata: { annotations: { [KUBEVIRT.targetReady]: '2026-01-01T00:00:00Z' } } };
  await (await sandbox.client()).patch(PODS, { namespace, name }, { type: 'merge', body });
};
