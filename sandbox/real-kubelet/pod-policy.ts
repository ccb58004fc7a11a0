/** Admission policies by which a cluster of the sandbox adds to pods what they need here. Pure. */
import type { ManifestObject } from '../objects/manifests.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';

export interface PodPolicySpec {
  readonly name: string;
  /** CEL: the configuration to apply to a pod that is created. */
  readonly expression: string;
  /** CEL: of these pods alone; absent: of all. */
  readonly condition?: string;
}

export const podPolicy = ({ name, expression, condition }: PodPolicySpec): readonly ManifestObject[] => [
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicy', metadata: { name } },
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      ...(condition === undefined ? {} : { matchConditions: [{ name: 'these', expression: condition }] }),
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    },
  },
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicyBinding', metadata: { name } },
    spec: { policyName: name },
  },
];
