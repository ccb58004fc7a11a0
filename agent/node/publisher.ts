/** Publishes what other nodes need to know of this one, and puts it back when somebody changes it. */
import { formatEncapIps } from '../../api/annotations/node-lists.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import { NODES } from '../../kube/resources.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';
import type { LocalNode } from './local-node.ts';

export interface NodePublisherOptions {
  readonly node: LocalNode;
  readonly nodes: ObjectCache<NodeProjection>;
  readonly writer: Pick<Writer, 'apply'>;
  readonly onError: (error: unknown) => void;
  /** Calls back after a while, to try again what the API refused for minutes. */
  readonly later: (retry: () => void) => void;
}

/** @returns what ends it */
export const publishNode = ({ node, nodes, writer, onError, later }: NodePublisherOptions): (() => void) => {
  const annotations = {
    [NODE_ANNOTATIONS.chassisId]: node.chassisId,
    [NODE_ANNOTATIONS.encapIps]: formatEncapIps(node.encapIps),
    [NODE_ANNOTATIONS.zoneName]: node.name,
  };
  const isPublished = ({ fact, zoneName }: NodeProjection): boolean =>
    fact.chassisId === node.chassisId &&
    fact.encapIps.join() === node.encapIps.join() &&
    zoneName === annotations[NODE_ANNOTATIONS.zoneName];
  const publish = (): void => {
    const current = nodes.get(node.name);
    if (current === undefined || isPublished(current)) return;
    writer.apply(NODES, { metadata: { name: node.name, annotations } }).catch((error: unknown) => {
      onError(error);
      later(publish);
    });
  };
  return nodes.subscribe(({ key }) => {
    if (key === node.name) publish();
  });
};
