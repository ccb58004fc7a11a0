/**
 * Gives namespaces of the e2e suite a primary network. The label has to be there when a namespace is made, so an admission policy adds it.
 * A network of its own follows at once, and pods that are made before that wait for it in their CNI ADD, as those of any user do. One that
 * all namespaces share is there before them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PRIMARY_NETWORK_LABEL, UDN_API_VERSION } from '../../api/names.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { ManifestObject, Objects } from '../../sandbox/index.ts';

/** By which the suite marks its namespaces. */
const RUN_LABEL = 'e2e-run';
/** Has the name of the suite: namespaces of the one before end in their own time, on their own network. */
export const SUITE_LABEL = 'conformance-suite';
const NAME = 'conformance-tenants';
const API_VERSION = 'admissionregistration.k8s.io/v1';

export const tenantPolicy = (suite: string): readonly ManifestObject[] => [
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicy', metadata: { name: NAME } },
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: {
        objectSelector: { matchExpressions: [{ key: RUN_LABEL, operator: 'Exists' }] },
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['namespaces'] }],
      },
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: `Object{metadata: Object.metadata{labels: {'${PRIMARY_NETWORK_LABEL}': '', '${SUITE_LABEL}': '${suite}'}}}`,
          },
        },
      ],
    },
  },
  {
    ...{ apiVersion: API_VERSION, kind: 'MutatingAdmissionPolicyBinding', metadata: { name: NAME } },
    spec: { policyName: NAME },
  },
];

/** @param spec of a UserDefinedNetwork */
export const tenantNetwork = (namespace: string, spec: object): ManifestObject => ({
  ...{ apiVersion: UDN_API_VERSION, kind: 'UserDefinedNetwork', metadata: { namespace, name: 'tenant' } },
  spec,
});

/** @param spec of a UserDefinedNetwork */
export const sharedNetwork = (suite: string, spec: object): ManifestObject => ({
  ...{ apiVersion: UDN_API_VERSION, kind: 'ClusterUserDefinedNetwork', metadata: { name: suite } },
  spec: { namespaceSelector: { matchLabels: { [SUITE_LABEL]: suite } }, network: spec },
});

interface Cluster {
  /** Whose namespaces become tenants. */
  readonly suite: string;
  readonly client: KubeClient;
  readonly objects: Pick<Objects, 'apply'>;
}

/** It takes two seconds, and no server that has the resource refuses to apply it. */
const ENFORCED_MS = 120_000;

/** Resolves when new namespaces of the suite are tenants. @throws Error when they are none for too long */
export const enforceTenancy = async (
  { suite, client, objects }: Cluster,
  signal: AbortSignal,
  patienceMs = ENFORCED_MS,
): Promise<void> => {
  await objects.apply(tenantPolicy(suite));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  // Nothing announces that a policy is in force.
  while (!(await unlessTooLate(limit, signal, isEnforced(suite, client, limit)))) {
    await unlessTooLate(limit, signal, sleep(250, undefined, { signal: limit }));
  }
};

/** A request that waits for its answer is given up, too. */
const unlessTooLate = async <T>(limit: AbortSignal, signal: AbortSignal, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted) throw error;
    const what = `the API server labels no namespaces by the MutatingAdmissionPolicy "${NAME}"`;
    throw new Error(`${what}: Kubernetes 1.36 or newer does`, { cause: error });
  }
};

const isEnforced = async (suite: string, client: KubeClient, signal: AbortSignal): Promise<boolean> => {
  const body = {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: NAME, labels: { [RUN_LABEL]: 'probe' } as Readonly<Record<string, string>> },
  };
  const path = '/api/v1/namespaces?dryRun=All';
  const { metadata } = (await client.request({ method: 'POST', path, body }, signal)) as typeof body;
  return metadata.labels[SUITE_LABEL] === suite;
};

export interface TenantsSpec extends Cluster {
  /** Of a UserDefinedNetwork. */
  readonly network: object;
  readonly onError: (error: unknown) => void;
}

/** Gives each namespace of the suite a network of its own, until the signal aborts. */
export const runTenants = async (
  { suite, client, objects, network, onError }: TenantsSpec,
  signal: AbortSignal,
): Promise<void> => {
  const namespaces = createReflector({
    ...{ client, resource: NAMESPACES, labelSelector: `${SUITE_LABEL}=${suite}` },
    project: ({ metadata }) => (metadata.deletionTimestamp === undefined ? metadata.name : undefined),
  });
  namespaces.subscribe(({ type, after }) => {
    if (type !== 'added') return;
    objects.apply([tenantNetwork(after, network)]).catch((error: unknown) => {
      // A namespace may end before its network is made.
      if (!signal.aborted && !isForbidden(error) && !isNotFound(error)) onError(error);
    });
  });
  await namespaces.run(signal);
};
