/** Policies of the API that nothing here enforces, and what of them says to whom they apply. */
import { z } from 'zod';
import { type LabelSelector, labelSelectorSchema } from './label-selector.ts';
import { metadataSchema } from './object.ts';
import { parseWith } from './parse.ts';

/** Where they are served, once somebody has installed their definitions. */
export const UNENFORCED_POLICIES = [
  policy('k8s.cni.cncf.io', 'v1beta1', 'multi-networkpolicies', 'MultiNetworkPolicy', true),
] as const;

export interface PolicyFacts {
  readonly kind: string;
  readonly apiVersion: string;
  /** Undefined: of the whole cluster. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string | undefined;
  /** Pods of its namespace; undefined where it selects namespaces, or cannot be read: any pod may be meant. */
  readonly podSelector: LabelSelector | undefined;
}

/** `MultiNetworkPolicy red/deny` */
export const policyName = ({ kind, namespace, name }: PolicyFacts): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

/** @param kind and where it is served: lists leave it out */
export const policyFacts = (
  object: unknown,
  { group, version, kind, namespaced }: (typeof UNENFORCED_POLICIES)[number],
): PolicyFacts => {
  const { metadata, spec } = parseWith(schema, object, kind);
  return {
    kind,
    apiVersion: `${group}/${version}`,
    namespace: namespaced ? metadata.namespace : undefined,
    name: metadata.name,
    uid: metadata.uid,
    podSelector: namespaced ? spec?.podSelector : undefined,
  };
};

const schema = z.object({
  metadata: metadataSchema,
  spec: z.object({ podSelector: labelSelectorSchema.optional() }).optional().catch(undefined),
});

function policy<Kind extends string>(group: string, version: string, plural: string, kind: Kind, namespaced: boolean) {
  return { group, version, plural, kind, namespaced } as const;
}
