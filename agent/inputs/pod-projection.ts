/** What the agent keeps of a Pod. */
import { z } from 'zod';
import { type PodNetworks, parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { parseWith } from '../../api/parse.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { PodFact } from '../model/facts.ts';
import { type Problem, readOr } from './problem.ts';

export interface PodProjection {
  readonly fact: PodFact;
  readonly createdAt: string;
  /** The annotation that `fact.networks` was read from, for who changes it. */
  readonly annotation: string | undefined;
  /** Of the version that was projected. Not compared: it changes with every heartbeat of the pod's status. */
  readonly resourceVersion: string;
  readonly problems: readonly Problem[];
}

/**
 * Pods of this node, and of other nodes those that have a port on a switch that spans the nodes: undefined for all
 * others, which no fragment is about.
 */
export const projectPod = (object: KubeObject, localNode: string): PodProjection | undefined => {
  const { metadata } = object;
  const body = parseWith(bodySchema, object, 'Pod');
  const { nodeName, hostNetwork = false } = body.spec;
  const annotation = metadata.annotations?.[POD_ANNOTATIONS.networks];
  if (nodeName !== localNode && (hostNetwork || annotation === undefined)) return undefined;
  const key = `${metadata.namespace}/${metadata.name}`;
  const problems: Problem[] = [];
  const networks =
    annotation === undefined ? undefined : readOr(`Pod/${key}`, problems, () => parsePodNetworks(annotation, key));
  if (nodeName !== localNode && !spansNodes(networks)) return undefined;
  return {
    fact: {
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      uid: metadata.uid,
      runtimeUid: metadata.annotations?.[STATIC_POD_UID] ?? metadata.uid,
      node: nodeName,
      hostNetwork,
      finished: body.status?.phase === 'Succeeded' || body.status?.phase === 'Failed',
      networks: networks ?? NO_NETWORKS,
      ...(problems[0] !== undefined && {
        unreadable: problems[0].message,
      }),
    },
    createdAt: metadata.creationTimestamp ?? '',
    annotation,
    resourceVersion: metadata.resourceVersion,
    problems,
  };
};

export const samePod = (a: PodProjection, b: PodProjection): boolean =>
  a.annotation === b.annotation &&
  a.fact.uid === b.fact.uid &&
  a.fact.node === b.fact.node &&
  a.fact.finished === b.fact.finished;

/** On the mirror of a static pod: the UID that the kubelet gave the pod itself. */
const STATIC_POD_UID = 'kubernetes.io/config.hash';

const NO_NETWORKS: PodNetworks = new Map();

/** Only ports of layer-2 networks have a key that the cluster manager gave. */
const spansNodes = (networks: PodNetworks | undefined): boolean =>
  networks?.values().some(({ tunnelId }) => tunnelId !== undefined) ?? false;

const bodySchema = z.object({
  spec: z.object({ nodeName: z.string().min(1).optional(), hostNetwork: z.boolean().optional() }),
  status: z.object({ phase: z.string().optional() }).optional(),
});
