/** What is kept of a Pod: what the cluster manager knows of it, and what its owner sees. */
import { z } from 'zod';
import type { Labels } from '../../api/label-selector.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { type PodFacts, podFacts } from '../../cluster-manager/facts/pod-facts.ts';

export interface PodState extends PodFacts {
  /** Undefined: no scheduler has found one. */
  readonly node: string | undefined;
  readonly isHostNetwork: boolean;
  readonly isCompleted: boolean;
  /** The kubelet says so. */
  readonly isReady: boolean;
  /** Since when its sandbox has a network, milliseconds since 1970; undefined: it has none, or the kubelet does not say. */
  readonly networkReadySince: number | undefined;
  /** Its annotation says what it is attached to. */
  readonly hasNetworkStatus: boolean;
  /** Why it is not, as its conditions and containers say: `web: ImagePullBackOff: …`. */
  readonly waits: readonly string[];
  readonly labels: Labels;
  readonly finalizers: readonly string[];
  readonly deletionTimestamp: string | undefined;
}

export const podState = (object: unknown): PodState => {
  const facts = podFacts(object);
  const { metadata, spec, status } = parseWith(podSchema, object, `Pod ${facts.key}`);
  const conditions = status?.conditions ?? [];
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return {
    ...facts,
    node: spec?.nodeName || undefined,
    isHostNetwork: spec?.hostNetwork === true,
    isCompleted: status?.phase === 'Succeeded' || status?.phase === 'Failed',
    isReady: conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    networkReadySince: networkReadySince(conditions),
    hasNetworkStatus: metadata.annotations[POD_ANNOTATIONS.networkStatus] !== undefined,
    waits: [
      ...conditions.filter(({ type, status: value }) => type === 'PodScheduled' && value === 'False').map(wordsOf),
      ...containers.flatMap(({ name, state }) => {
        const waits = state?.waiting;
        return waits === undefined || waits === null ? [] : [`${name}: ${wordsOf(waits)}`];
      }),
    ],
    labels: metadata.labels,
    finalizers: metadata.finalizers,
    deletionTimestamp: metadata.deletionTimestamp ?? undefined,
  };
};

/** Kubernetes 1.29 and later: every CNI ADD of the sandbox has succeeded. */
const networkReadySince = (conditions: readonly Timed[]): number | undefined => {
  const ready = conditions.find(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');
  return Date.parse(ready?.lastTransitionTime ?? '') || undefined;
};

interface Timed {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null | undefined;
}

interface Reasoned {
  readonly reason?: string | null | undefined;
  readonly message?: string | null | undefined;
}

const wordsOf = ({ reason, message }: Reasoned): string => [reason, message].filter(Boolean).join(': ');

const text = z.string().nullish();
const containersSchema = z
  .array(
    z.object({
      name: z.string(),
      state: z.object({ waiting: z.object({ reason: text, message: text }).nullish() }).nullish(),
    }),
  )
  .nullish();

const podSchema = z.object({
  metadata: metadataSchema,
  spec: z.object({ nodeName: text, hostNetwork: z.boolean().nullish() }).nullish(),
  status: z
    .object({
      phase: text,
      conditions: z
        .array(
          z.object({ type: z.string(), status: z.string(), reason: text, message: text, lastTransitionTime: text }),
        )
        .nullish(),
      containerStatuses: containersSchema,
      initContainerStatuses: containersSchema,
    })
    .nullish(),
});
