/** One NetworkPolicy: who reaches whom in its namespace, before it and with it. */
import type { ManifestObject, Sandbox } from '../sandbox/index.ts';
import { differences } from '../test/oracles/reachability/evaluate.ts';
import { renderMatrix } from '../test/oracles/reachability/matrix.ts';
import { measureReachability } from '../test/oracles/reachability/measure.ts';
import type { Reachability, ReachabilityPod } from '../test/oracles/reachability/types.ts';
import type { Terminal } from './terminal.ts';

/** Pods that accept connections of each other, and of nobody else. */
export interface PolicyPlan {
  readonly policy: ManifestObject;
  /** Those of the namespace. */
  readonly pods: readonly ReachabilityPod[];
  /** Keys of the pods that it isolates. */
  readonly isolated: ReadonlySet<string>;
}

/** Of the first network of a namespace. Undefined: it has no pods that a policy would part. */
export const planPolicy = (
  manifests: readonly ManifestObject[],
  pods: readonly ReachabilityPod[],
): PolicyPlan | undefined => {
  const { metadata: { namespace } = {} } = manifests.find(({ kind }) => kind === 'UserDefinedNetwork') ?? {};
  if (namespace === undefined) return undefined;
  const own = pods.filter(({ key }) => key.startsWith(`${namespace}/`));
  const isolated = new Set(manifests.filter((object) => isWeb(object, namespace)).map(keyOf));
  if (isolated.size === 0 || isolated.size === own.length) return undefined;
  return { policy: policyOf(namespace), pods: own, isolated };
};

/** What it denies: the others' connections to those that it isolates. */
export const isDenied = ({ isolated }: PolicyPlan, from: string, to: string): boolean =>
  isolated.has(to) && !isolated.has(from);

/** @returns who reaches whom with the policy, which is deleted again */
export const measurePolicy = async (
  sandbox: Pick<Sandbox, 'exec' | 'objects'>,
  plan: PolicyPlan,
  signal?: AbortSignal,
): Promise<Reachability[]> => {
  const objects = await sandbox.objects();
  await objects.apply([plan.policy]);
  try {
    return await untilRight(() =>
      measureReachability(sandbox, plan.pods, { signal, denies: (from, to) => isDenied(plan, from, to) }),
    );
  } finally {
    await objects.delete([plan.policy]);
  }
};

export const renderPolicy = (
  { pods }: PolicyPlan,
  before: readonly Reachability[],
  after: readonly Reachability[],
  { paint }: Pick<Terminal, 'paint'>,
): string => {
  const keys = new Set(pods.map(({ key }) => key));
  const own = before.filter(({ from, to }) => keys.has(from) && keys.has(to));
  return `before\n${renderMatrix(pods, own, paint)}\n\nwith it\n${renderMatrix(pods, after, paint)}`;
};

/** A policy takes effect some moments after the API server has it. */
const untilRight = async (measure: () => Promise<Reachability[]>): Promise<Reachability[]> => {
  let results = await measure();
  for (let tries = 1; tries < MAX_TRIES && differences(results).length > 0; tries++) results = await measure();
  return results;
};
const MAX_TRIES = 5;

const LABELS = { app: 'web' };

const policyOf = (namespace: string): ManifestObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'web', namespace },
  spec: {
    podSelector: { matchLabels: LABELS },
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ podSelector: { matchLabels: LABELS } }] }],
  },
});

const isWeb = ({ kind, metadata }: ManifestObject, namespace: string): boolean => {
  const { app } = (metadata['labels'] ?? {}) as Readonly<Record<string, unknown>>;
  return kind === 'Pod' && metadata.namespace === namespace && app === LABELS.app;
};

const keyOf = ({ metadata: { namespace, name } }: ManifestObject): string => `${namespace}/${name}`;
