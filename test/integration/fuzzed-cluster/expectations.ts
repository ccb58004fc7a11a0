/** What has to be said of an object, by somebody who has read it himself. */

import { parseDefaultNetworkSelection, parseNetworkSelections } from '../../../api/annotations/network-selection.ts';
import { parsePodNetworkEntry } from '../../../api/annotations/pod-networks.ts';
import { ApiError } from '../../../api/errors.ts';
import { nadFacts } from '../../../cluster-manager/facts/nad-facts.ts';
import { cudnFacts, udnFacts } from '../../../cluster-manager/facts/network-facts.ts';
import { heldByNode, nodeFacts } from '../../../cluster-manager/facts/node-facts.ts';
import type { EventInput } from '../../../kube/events/types.ts';
import type { KubeObject, ObjectInput } from '../../../kube/types.ts';

interface Named {
  readonly kind?: string | undefined;
  readonly metadata: { readonly namespace?: string | undefined; readonly name?: string | undefined };
}

/** `Kind/namespace/name` */
export const idOf = ({ kind = '', metadata: { namespace, name = '' } }: Named): string =>
  [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

const conditionsOf = ({ status }: KubeObject): readonly Condition[] =>
  (status as { conditions?: Condition[] } | undefined)?.conditions ?? [];

/** All messages about objects, by `idOf`. */
export const reportedMessages = (
  objects: readonly KubeObject[],
  events: readonly EventInput[],
): ReadonlyMap<string, string> => {
  const reported = new Map<string, string>();
  const add = (id: string, text: string) => reported.set(id, `${reported.get(id) ?? ''}\n${text}`);
  for (const { regarding, message } of events) add(idOf({ kind: regarding.kind, metadata: regarding }), message);
  for (const object of objects) {
    for (const { type, status, message } of conditionsOf(object)) add(idOf(object), `${type} ${status} ${message}`);
  }
  return reported;
};

/**
 * Messages, or parts of them, that have to be reported about the object as it was made. Of those that are repaired by
 * writing them again, only what was read at start is reported.
 * @param hasLayer2 whether the object's namespace has a layer-2 network
 */
export const expectedMessages = (object: ObjectInput, hasLayer2: boolean, isFromBefore: boolean): readonly string[] => {
  switch (object.kind) {
    case 'UserDefinedNetwork':
      return fieldsOf(udnFacts(object).error);
    case 'ClusterUserDefinedNetwork':
      return fieldsOf(cudnFacts(object).error);
    case 'NetworkAttachmentDefinition': {
      const { confError, keysError } = nadFacts(object);
      return [confError, keysError].flatMap((error) => (error === undefined ? [] : error.message));
    }
    case 'Node':
      return isFromBefore ? heldByNode(nodeFacts(object)).errors.map(({ message }) => message) : [];
    case 'Pod':
      return hasLayer2 ? podMessages(object) : [];
    default:
      return [];
  }
};

const fieldsOf = (error: ApiError | undefined): readonly string[] =>
  error === undefined ? [] : [error.field ?? error.message];

const podMessages = ({ metadata: { annotations = {}, namespace = '', name = '' } }: ObjectInput): readonly string[] => {
  const key = `${namespace}/${name}`;
  const read = (annotation: string, parse: (text: string) => unknown): readonly string[] => {
    const text = annotations[annotation];
    return text === undefined ? [] : messagesOf(() => parse(text));
  };
  const networks = read('k8s.ovn.org/pod-networks', (text) => {
    const map = text === '' ? {} : readMap(text);
    const entry = map?.[`${namespace}/net`];
    if (entry !== undefined) parsePodNetworkEntry(entry, key);
  });
  return [
    ...networks,
    ...read('k8s.v1.cni.cncf.io/networks', (text) => parseNetworkSelections(text, key)),
    ...read('v1.multus-cni.io/default-network', (text) => parseDefaultNetworkSelection(text, key)),
  ];
};

/** No map: what is said of it is the reader's own message. */
const readMap = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw new ApiError('ERR_API_FIELD', 'pod-networks');
};

const messagesOf = (parse: () => unknown): readonly string[] => {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof ApiError) return [error.message];
    throw error;
  }
};
