/** What the cluster manager keeps of a Pod. */
import { z } from 'zod';
import { KUBEVIRT, POD_ANNOTATIONS } from '../../api/names.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith, readJson } from '../../api/parse.ts';

export interface PodFacts {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  /** On a node, on the pod network, and not completed: it needs its addresses. */
  readonly isActive: boolean;
  /** The virtual machine that runs in it. */
  readonly machine: string | undefined;
  /** Its machine takes the pod's addresses along when it moves to another pod. */
  readonly sharesWithMachine: boolean;
  /** Of the version with the latest change that matters; later ones may exist. */
  readonly resourceVersion: string;
  readonly annotations: {
    readonly networks: string | undefined;
    readonly selection: string | undefined;
    readonly defaultNetwork: string | undefined;
    readonly primaryClaim: string | undefined;
  };
  /** The keys of `annotations.networks`, each of an attachment; undefined when it can't be read. */
  readonly annotatedKeys: readonly string[] | undefined;
}

export const podFacts = (object: unknown): PodFacts => {
  const { metadata, spec, status } = parseWith(podSchema, object, 'Pod');
  const { annotations, labels } = metadata;
  const machine = labels[KUBEVIRT.machine];
  const isCompleted = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid ?? '',
    creationTimestamp: metadata.creationTimestamp ?? '',
    isActive: (spec?.nodeName ?? '') !== '' && spec?.hostNetwork !== true && !isCompleted,
    machine,
    sharesWithMachine: machine !== undefined && annotations[KUBEVIRT.migratesWithAddress] !== undefined,
    resourceVersion: metadata.resourceVersion ?? '',
    annotations: {
      networks: annotations[POD_ANNOTATIONS.networks],
      selection: annotations[POD_ANNOTATIONS.selection],
      defaultNetwork: annotations[POD_ANNOTATIONS.defaultNetwork],
      primaryClaim: annotations[POD_ANNOTATIONS.primaryClaim],
    },
    annotatedKeys: keysOf(annotations[POD_ANNOTATIONS.networks]),
  };
};

/** Whether two versions of a pod are the same to us: most updates are of its status. */
export const samePod = (a: PodFacts, b: PodFacts): boolean =>
  a.uid === b.uid &&
  a.isActive === b.isActive &&
  a.annotations.networks === b.annotations.networks &&
  a.annotations.selection === b.annotations.selection &&
  a.annotations.defaultNetwork === b.annotations.defaultNetwork &&
  a.annotations.primaryClaim === b.annotations.primaryClaim &&
  a.machine === b.machine &&
  a.sharesWithMachine === b.sharesWithMachine;

/** Read once: everybody asks, at every change. */
const keysOf = (networks: string | undefined): readonly string[] | undefined => {
  if (networks === undefined || networks === '') return [];
  try {
    const map = readJson(networks);
    return typeof map === 'object' && map !== null && !Array.isArray(map) ? Object.keys(map) : undefined;
  } catch {
    // Told to the pod's owner where the annotation is written.
    return undefined;
  }
};

/** The NAD keys that an active pod uses, `*` when its annotation can't be read: then it may use any of its namespace. */
export const usedNads = (pod: PodFacts): readonly string[] => {
  if (!pod.isActive) return [];
  return pod.annotatedKeys?.map(withoutAttachment) ?? [`${pod.namespace}/*`];
};

/** `ns/nad/1` is a second attachment to `ns/nad`. */
export const withoutAttachment = (key: string): string => key.split('/').slice(0, 2).join('/');

const podSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string() }),
  spec: z.object({ nodeName: z.string().nullish(), hostNetwork: z.boolean().nullish() }).nullish(),
  status: z.object({ phase: z.string().nullish() }).nullish(),
});
