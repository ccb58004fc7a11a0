/**
 * Whether what a pod would get has room in its annotations. Asked before anything is given out: an entry that the API server
 * refuses is never written, and its addresses would be nobody's and taken. Pure.
 */

import type { ClusterConfig } from '../../api/cluster-config.ts';
import { TOTAL_ANNOTATIONS_BYTES } from '../facts/annotation-room.ts';
import type { PodFacts } from '../facts/pod-facts.ts';
import type { Layer2Attachment } from './pod-attachments.ts';

/** A message for the pod's events when there is no room. */
export const refuseSize = (
  { annotationRoom }: PodFacts,
  attachments: readonly Layer2Attachment[],
  cluster: ClusterConfig,
): string | undefined => {
  if (annotationRoom === undefined || attachments.length === 0) return undefined;
  const needed = attachments.reduce((sum, attachment) => sum + mostBytes(attachment, cluster), AGENT_BYTES);
  if (needed <= annotationRoom) return undefined;
  return `no room for ${attachments.length === 1 ? 'a network' : `${attachments.length} networks`} in the pod's annotations: up to ${needed} bytes are needed, ${annotationRoom} of ${TOTAL_ANNOTATIONS_BYTES} are left`;
};

/** At most so many bytes is `"ns/nad":{…}`, with the name of the annotation. */
export const mostBytes = ({ nadKey, record, requestedGateways }: Layer2Attachment, cluster: ClusterConfig): number => {
  const routes = cluster.serviceSubnets.length + record.network.joinSubnets.length;
  return FIXED_BYTES + nadKey.length + GATEWAY_BYTES * requestedGateways.length + ROUTE_BYTES * routes;
};

/** Two addresses of IPv6, each twice, two gateways, the link-local one, the other fields and the name of the annotation. */
const FIXED_BYTES = 640;

/** `"fd00:…",` with 39 characters. */
const GATEWAY_BYTES = 48;

/** `{"dest":"fd00:…/128","nextHop":"fd00:…"},` */
const ROUTE_BYTES = 112;

/** What the agent adds to the same annotation: the entry of the default network. */
const AGENT_BYTES = 1024;
