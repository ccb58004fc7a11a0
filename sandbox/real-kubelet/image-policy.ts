/** What lets pods name the image `toolbox` without saying more, as they may where the kubelet is a stand-in. */
import type { ManifestObject } from '../objects/manifests.ts';

const NAME = 'sandbox-images';
const API_VERSION = 'admissionregistration.k8s.io/v1';

/** A name without tag is `latest`, for which a kubelet would ask a registry; every node has it already. */
const EXPRESSION = `Object{spec: Object.spec{
  containers: object.spec.containers
    .filter(c, c.image == 'toolbox')
    .map(c, Object.spec.containers{name: c.name, imagePullPolicy: 'IfNotPresent'}),
  initContainers: object.spec.?initContainers.orValue([])
    .filter(c, c.image == 'toolbox')
    .map(c, Object.spec.initContainers{name: c.name, imagePullPolicy: 'IfNotPresent'})}}`;

export const IMAGE_POLICY: readonly ManifestObject[] = [
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicy', metadata: { name: NAME } },
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: EXPRESSION } }],
    },
  },
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicyBinding', metadata: { name: NAME } },
    spec: { policyName: NAME },
  },
];
