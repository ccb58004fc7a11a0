/** Publishes what other nodes need to know of this one, and puts it back when somebody changes it. */
import type { ObjectCache } from '../../kube/reflector/types.ts';
import { NODES } from '../../kube/resources.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';
import { type DesiredAnnotations, PUBLISHED_ANNOTATIONS } from './annotations.ts';

export interface NodePublisherOptions {
  readonly node: string;
  /** As they are to be now. */
  readonly desired: () => DesiredAnnotations;
  readonly nodes: ObjectCache<NodeProjection>;
  readonly writer: Pick<Writer, 'apply'>;
  readonly onError: (error: unknown) => void;
  /** Calls back after a while, to try again what the API refused for minutes. */
  readonly later: (retry: () => void) => void;
}

export interface NodePublisher {
  /** To be called when the desired state has changed. */
  publish(): void;
  stop(): void;
}

export const publishNode = (options: NodePublisherOptions): NodePublisher => {
  const { node, nodes, writer, onError, later } = options;
  let isStopped = false;
  const publish = (): void => {
    const current = nodes.get(node);
    if (current === undefined || isStopped) return;
    const annotations = outcome(options.desired(), current.published);
    if (isSame(annotations, current.published)) return;
    writer.apply(NODES, { metadata: { name: node, annotations } }).catch((error: unknown) => {
      onError(error);
      later(publish);
    });
  };
  const unsubscribe = nodes.subscribe(({ key }) => {
    if (key === node) publish();
  });
  return {
    publish,
    stop: () => {
      isStopped = true;
      unsubscribe();
    },
  };
};

/**
 * All that is applied, also what stays as it is: an annotation that the field manager has applied before and leaves out
 * goes away (Kubernetes, "Server-Side Apply").
 */
const outcome = (
  desired: DesiredAnnotations,
  published: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    PUBLISHED_ANNOTATIONS.flatMap((key) => {
      const value = desired[key] === undefined ? published[key] : desired[key];
      return value === undefined || value === null ? [] : [[key, value]];
    }),
  );

const isSame = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  PUBLISHED_ANNOTATIONS.every((key) => a[key] === b[key]);
