/**
 * NetworkPolicy (networking.k8s.io/v1), with what Kubernetes leaves out filled in. It is read as strictly as the API server reads it, and
 * a field that nobody here knows makes it unreadable: it may narrow what the rest allows (pkg/apis/networking/validation of Kubernetes).
 */
import { z } from 'zod';
import { type Cidr, cidrContains } from '../net/cidr.ts';
import { type LabelSelector, labelSelectorSchema } from './label-selector.ts';
import {
  isLabelKey,
  isPort,
  LABEL_KEY,
  MAX_LABEL_KEY,
  MAX_OF_POLICY,
  MAX_PORT,
  POLICY_PROTOCOLS,
} from './network-policy-parts.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { maskedCidrSchema } from './scalars.ts';
import { usualNetworkPolicy } from './usual-network-policy.ts';

export type PolicyType = 'Ingress' | 'Egress';

export interface NetworkPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly podSelector: LabelSelector;
  /** As `policyTypes` says; without it Ingress, and Egress where the policy has egress rules. */
  readonly types: readonly PolicyType[];
  readonly ingress: readonly PolicyRule[];
  readonly egress: readonly PolicyRule[];
  /** `k8s.ovn.org/acl-stateless: "true"` */
  readonly stateless: boolean;
}

export interface PolicyRule {
  /** Empty: everybody. */
  readonly peers: readonly PolicyPeer[];
  /** Empty: all traffic. */
  readonly ports: readonly PolicyPort[];
}

export type PolicyPeer =
  | {
      readonly kind: 'pods';
      /** Absent: of the policy's namespace. */
      readonly namespaces?: LabelSelector | undefined;
      /** `{}` where only namespaces are selected. */
      readonly pods: LabelSelector;
    }
  | { readonly kind: 'block'; readonly cidr: Cidr; readonly except: readonly Cidr[] };

export interface PolicyPort {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** A number, a name, or absent: every port of the protocol. */
  readonly port?: number | string | undefined;
  /** With a number only, and not below it. */
  readonly endPort?: number | undefined;
}

/** Both have the same specification. */
export type PolicyKind = 'NetworkPolicy' | 'MultiNetworkPolicy';

/** @throws ApiError */
export const parseNetworkPolicy = (value: unknown, kind: PolicyKind = 'NetworkPolicy'): NetworkPolicy => {
  const { metadata, spec } =
    usualNetworkPolicy(value) ?? parseWith(policySchema, value, describeRef(refOf(kind, value)));
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid ?? '',
    podSelector: spec.podSelector,
    types: typesOf(spec.policyTypes, spec.egress.length > 0),
    ingress: spec.ingress.map(({ from, ports }) => ({ peers: from, ports })),
    egress: spec.egress.map(({ to, ports }) => ({ peers: to, ports })),
    stateless: metadata.annotations[STATELESS_ANNOTATION] === 'true',
  };
};

/** Of a policy that cannot be read as a whole: whom it is about at most. A part that cannot be read either stands for everything. */
export const readPolicyReach = (spec: unknown): Pick<NetworkPolicy, 'podSelector' | 'types'> => {
  const { podSelector, policyTypes, egress } = reachSchema.safeParse(spec).data ?? NOTHING_READ;
  const selected = selectorOrAll.safeParse(podSelector).data;
  const types = policyTypesSchema.safeParse(policyTypes).data;
  if (selected === undefined || types === undefined) return { podSelector: selected ?? {}, types: BOTH };
  const mayHaveEgress = egress !== undefined && egress !== null && !(Array.isArray(egress) && egress.length === 0);
  return { podSelector: selected, types: typesOf(types, mayHaveEgress) };
};

const BOTH: readonly PolicyType[] = ['Ingress', 'Egress'];

/** What the API server fills in (SetDefaults_NetworkPolicy). */
const typesOf = (types: readonly PolicyType[], hasEgress: boolean): readonly PolicyType[] => {
  if (types.length === 0) return hasEgress ? BOTH : ['Ingress'];
  return BOTH.filter((type) => types.includes(type));
};

export const STATELESS_ANNOTATION = 'k8s.ovn.org/acl-stateless';

const listOf = <Item extends z.ZodType>(item: Item, max: number) =>
  z
    .array(item)
    .max(max)
    .nullish()
    .transform((items): readonly z.output<Item>[] => items ?? []);

const labelKey = z.string().max(MAX_LABEL_KEY).regex(LABEL_KEY);

const matchLabelsSchema = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    {
      error: 'must be a map',
    },
  )
  .superRefine((labels, context) => {
    for (const key of Object.keys(labels).filter((one) => !isLabelKey(one)))
      context.addIssue({ code: 'custom', message: `${JSON.stringify(key)} is not a label key` });
  })
  .pipe(z.record(z.string(), z.string()));

const expressionSchema = z.strictObject({
  key: labelKey,
  operator: z.string(),
  values: listOf(z.string(), MAX_OF_POLICY.values),
});

/** No more than the API has in a selector, and bounded. */
export const strictSelectorSchema: z.ZodType<LabelSelector> = z
  .strictObject({
    matchLabels: matchLabelsSchema.nullish().transform((labels) => labels ?? {}),
    matchExpressions: listOf(expressionSchema, MAX_OF_POLICY.requirements),
  })
  .refine(({ matchLabels }) => Object.keys(matchLabels).length <= MAX_OF_POLICY.requirements, {
    path: ['matchLabels'],
    error: `must have at most ${MAX_OF_POLICY.requirements} labels`,
  })
  .transform(({ matchLabels, matchExpressions }) => ({ matchLabels, matchExpressions: [...matchExpressions] }))
  .pipe(
    labelSelectorSchema as z.ZodType<
      LabelSelector,
      { matchLabels: Record<string, string>; matchExpressions: z.output<typeof expressionSchema>[] }
    >,
  );

const selectorOrAll = strictSelectorSchema.nullish().transform((selector) => selector ?? {});

const blockSchema = z
  .strictObject({ cidr: maskedCidrSchema, except: listOf(maskedCidrSchema, MAX_OF_POLICY.excepts) })
  .superRefine(({ cidr, except }, context) => {
    for (const [index, part] of except.entries())
      if (part === cidr || !cidrContains(cidr, part))
        context.addIssue({ code: 'custom', path: ['except', index], message: `${part} is not a part of ${cidr}` });
  });

const peerSchema = z
  .strictObject({
    ipBlock: blockSchema.nullish(),
    namespaceSelector: strictSelectorSchema.nullish(),
    podSelector: strictSelectorSchema.nullish(),
  })
  .transform(({ ipBlock, namespaceSelector, podSelector }, context): PolicyPeer => {
    const hasSelector = namespaceSelector != null || podSelector != null;
    if (ipBlock != null && !hasSelector) return { kind: 'block', ...ipBlock };
    if (ipBlock == null && hasSelector)
      return {
        kind: 'pods',
        ...(namespaceSelector != null && { namespaces: namespaceSelector }),
        pods: podSelector ?? {},
      };
    const message = hasSelector ? 'must not have selectors beside ipBlock' : 'must have a selector or ipBlock';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const portNumber = z.number().int().min(1).max(MAX_PORT);

const portSchema = z
  .strictObject({
    protocol: z.enum(['TCP', 'UDP', 'SCTP']).nullish(),
    port: z
      .union([z.number(), z.string()])
      .refine(isPort, { error: 'must be a number from 1 to 65535 or the name of a port' })
      .nullish(),
    endPort: portNumber.nullish(),
  })
  .transform(({ protocol, port, endPort }, context): PolicyPort => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', path: ['endPort'], message });
    if (endPort != null && typeof port !== 'number') refuse('needs a port that is a number');
    else if (endPort != null && typeof port === 'number' && endPort < port) refuse(`must not be below port ${port}`);
    return {
      protocol: POLICY_PROTOCOLS[protocol ?? 'TCP'],
      ...(port != null && { port }),
      ...(endPort != null && { endPort }),
    };
  });

const policyTypesSchema = listOf(z.enum(['Ingress', 'Egress']), 2);
const ports = listOf(portSchema, MAX_OF_POLICY.ports);
const peers = listOf(peerSchema, MAX_OF_POLICY.peers);

/** Exported for tests: `usualNetworkPolicy` reads the same. */
export const policySchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  spec: z.strictObject({
    podSelector: selectorOrAll,
    policyTypes: policyTypesSchema,
    ingress: listOf(z.strictObject({ from: peers, ports }), MAX_OF_POLICY.rules),
    egress: listOf(z.strictObject({ to: peers, ports }), MAX_OF_POLICY.rules),
  }),
});

export type PolicyFields = z.output<typeof policySchema>;

const reachSchema = z.object({
  podSelector: z.unknown().optional(),
  policyTypes: z.unknown().optional(),
  egress: z.unknown().optional(),
});
/** Not even an object: everything. */
const NOTHING_READ = { podSelector: null, policyTypes: 'unreadable', egress: null } as const;
