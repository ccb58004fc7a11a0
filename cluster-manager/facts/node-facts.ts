/** What the cluster manager keeps of a Node: what it gave the node. */
import { z } from 'zod';
import { parseNodeIdAnnotation } from '../../api/annotations/ids.ts';
import { type NodeSubnets, parseNodeSubnets, readableNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { ApiError } from '../../api/errors.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import type { NodeId } from '../../net/ids.ts';

export interface NodeFacts {
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  /** The annotations' texts, to see whether they have to be written. */
  readonly annotations: {
    readonly id: string | undefined;
    readonly subnets: string | undefined;
    readonly transitAddresses: string | undefined;
  };
}

const schema = z.object({ metadata: metadataSchema });

export const nodeFacts = (object: unknown): NodeFacts => {
  const { metadata } = parseWith(schema, object, 'Node');
  const { annotations } = metadata;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    creationTimestamp: metadata.creationTimestamp ?? '',
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
  return { id, subnets, errors };
};
