/** What the cluster manager keeps of a Node: what it gave the node. */
import { z } from 'zod';
import { parseNodeIdAnnotation } from '../../api/annotations/ids.ts';
import { parseTransitAddresses } from '../../api/annotations/node-addresses.ts';
import { type NodeSubnets, parseNodeSubnets, readableNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { ApiError } from '../../api/errors.ts';
import { NODE_ANNOTATIONS, NODE_LABELS } from '../../api/names.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { cidrFamily } from '../../net/cidr.ts';
import type { NodeId } from '../../net/ids.ts';
import type { Family } from '../../net/ip.ts';

export interface NodeFacts {
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  /** No agent runs there, and no network waits for one: the node has the label for it, or another system than Linux. */
  readonly isExcluded: boolean;
  /** The annotations' texts, to see whether they have to be written. */
  readonly annotations: {
    readonly id: string | undefined;
    readonly subnets: string | undefined;
    readonly transitAddresses: string | undefined;
  };
}

const schema = z.object({ metadata: metadataSchema });
/** As the DaemonSet of the agent selects its nodes. */
const LINUX = 'linux';

export const nodeFacts = (object: unknown): NodeFacts => {
  const { metadata } = parseWith(schema, object, 'Node');
  const { annotations, labels } = metadata;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    creationTimestamp: metadata.creationTimestamp ?? '',
    isExcluded: NODE_LABELS.excluded in labels || (labels[NODE_LABELS.system] ?? LINUX) !== LINUX,
    annotations: {
      id: annotations[NODE_ANNOTATIONS.id],
      subnets: annotations[NODE_ANNOTATIONS.subnets],
      transitAddresses: annotations[NODE_ANNOTATIONS.transitAddresses],
    },
  };
};

export interface HeldByNode {
  readonly id: NodeId | undefined;
  readonly subnets: NodeSubnets;
  /** Of its transit addresses. */
  readonly transitFamilies: readonly Family[];
  /** Annotations that can't be read. */
  readonly errors: readonly ApiError[];
}

/** What the node has according to its annotations. */
export const heldByNode = ({ name, annotations }: NodeFacts): HeldByNode => {
  const errors: ApiError[] = [];
  const read = <Value>(text: string | undefined, parse: (text: string) => Value): Value | undefined => {
    if (text === undefined) return undefined;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      errors.push(error);
      return undefined;
    }
  };
  const id = read(annotations.id, (text) => parseNodeIdAnnotation(text, name));
  const subnets =
    read(annotations.subnets, (text) => parseNodeSubnets(text, name)) ?? readableNodeSubnets(annotations.subnets ?? '');
  return { id, subnets, transitFamilies: transitFamiliesOf(annotations.transitAddresses, name), errors };
};

/** What cannot be read is written anew. */
const transitFamiliesOf = (text: string | undefined, node: string): readonly Family[] => {
  try {
    return text === undefined ? [] : parseTransitAddresses(text, node).map(cidrFamily);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [];
  }
};
