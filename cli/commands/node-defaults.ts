/** What a node's agent publishes of its node, for nodes of the input that have not: the sensible values, told. Pure. */

import { projectNode } from '../../agent/inputs/node-projection.ts';
import type { Diagnostic } from '../../agent/model/fragment.ts';
import { formatEncapIps } from '../../api/annotations/node-lists.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';

export const withNodeDefaults = (
  objects: readonly KubeObject[],
): { readonly manifests: KubeObject[]; readonly diagnostics: Diagnostic[] } => {
  const diagnostics: Diagnostic[] = [];
  const manifests = objects.map((object) => {
    if (object.kind !== 'Node') return object;
    const { annotations = {} } = object.metadata;
    const missing = defaultsOf(object).filter(([key]) => annotations[key] === undefined);
    for (const [key, value] of missing) diagnostics.push(told(object, key, value));
    if (missing.length === 0) return object;
    return {
      ...object,
      metadata: { ...object.metadata, annotations: { ...annotations, ...Object.fromEntries(missing) } },
    };
  });
  return { manifests, diagnostics };
};

const defaultsOf = (node: KubeObject): [string, string][] => {
  const { internalIps } = projectNode(node);
  const encap: [string, string][] =
    internalIps.length === 0 ? [] : [[NODE_ANNOTATIONS.encapIps, formatEncapIps(internalIps)]];
  return [[NODE_ANNOTATIONS.chassisId, node.metadata.name], ...encap];
};

const told = ({ metadata: { name } }: KubeObject, key: string, value: string): Diagnostic => ({
  object: `Node/${name}`,
  severity: 'info',
  message: `annotation ${key} is not in the input: taken as the node's agent would write it, ${value}`,
});
