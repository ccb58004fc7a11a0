/** Reads a NetworkPolicy without the schema, which is as strict: what has a field that nobody here knows is for the schema to refuse. */
import { type Cidr, cidrContains, parseMaskedCidr } from '../net/cidr.ts';
import type { LabelSelector } from './label-selector.ts';
import type { PolicyFields, PolicyPeer, PolicyPort, PolicyType } from './network-policy.ts';
import { isLabelKey, isPort, MAX_OF_POLICY, POLICY_PROTOCOLS } from './network-policy-parts.ts';
import { type Fields, list, map, namespacedMeta, nullish, oneOf, text, unusual, usual } from './usual.ts';

/** @returns what the schema makes of it, or undefined: for the schema to decide */
export const usualNetworkPolicy = usual((value): PolicyFields => {
  const { metadata, spec } = map(value);
  const { podSelector, policyTypes, ingress, egress } = strict(spec, SPEC);
  return {
    metadata: namespacedMeta(metadata),
    spec: {
      podSelector: nullish(podSelector, selector) ?? {},
      policyTypes: few(policyTypes, 2).map(type),
      ingress: few(ingress, MAX_OF_POLICY.rules).map((rule) => {
        const { from, ports } = strict(rule, INGRESS);
        return { from: few(from, MAX_OF_POLICY.peers).map(peer), ports: few(ports, MAX_OF_POLICY.ports).map(port) };
      }),
      egress: few(egress, MAX_OF_POLICY.rules).map((rule) => {
        const { to, ports } = strict(rule, EGRESS);
        return { to: few(to, MAX_OF_POLICY.peers).map(peer), ports: few(ports, MAX_OF_POLICY.ports).map(port) };
      }),
    },
  };
});

const SPEC = ['podSelector', 'policyTypes', 'ingress', 'egress'];
const INGRESS = ['from', 'ports'];
const EGRESS = ['to', 'ports'];
const PEER = ['ipBlock', 'namespaceSelector', 'podSelector'];
const BLOCK = ['cidr', 'except'];
const PORT = ['protocol', 'port', 'endPort'];
const SELECTOR = ['matchLabels', 'matchExpressions'];
const REQUIREMENT = ['key', 'operator', 'values'];

const strict = (value: unknown, known: readonly string[]): Fields => {
  const fields = map(value);
  for (const key in fields) if (!known.includes(key)) unusual();
  return fields;
};

/** `map` would pass over what an array lacks. */
const few = (value: unknown, max: number): readonly unknown[] => {
  const items = list(value);
  return items.length <= max && !items.includes(undefined) ? items : unusual();
};

const type = oneOf<PolicyType>(['Ingress', 'Egress']);
const protocol = oneOf(['TCP', 'UDP', 'SCTP'] as const);

const peer = (value: unknown): PolicyPeer => {
  const { ipBlock, namespaceSelector, podSelector } = strict(value, PEER);
  const namespaces = nullish(namespaceSelector, selector) ?? undefined;
  const pods = nullish(podSelector, selector) ?? undefined;
  const hasSelector = namespaces !== undefined || pods !== undefined;
  const own = nullish(ipBlock, block) ?? undefined;
  if (own !== undefined) return hasSelector ? unusual() : own;
  return hasSelector ? { kind: 'pods', ...(namespaces && { namespaces }), pods: pods ?? {} } : unusual();
};

const block = (value: unknown): PolicyPeer => {
  const { cidr, except } = strict(value, BLOCK);
  const whole = parseMaskedCidr(text(cidr));
  const partOf = (one: unknown): Cidr => {
    const part = parseMaskedCidr(text(one));
    return part !== whole && cidrContains(whole, part) ? part : unusual();
  };
  return { kind: 'block', cidr: whole, except: few(except, MAX_OF_POLICY.excepts).map(partOf) };
};

const port = (value: unknown): PolicyPort => {
  const fields = strict(value, PORT);
  const number = nullish(fields['port'], portOf) ?? undefined;
  const endPort = nullish(fields['endPort'], portOf) ?? undefined;
  const isRange = typeof endPort === 'number' && typeof number === 'number' && endPort >= number;
  if (endPort !== undefined && !isRange) unusual();
  return {
    protocol: POLICY_PROTOCOLS[nullish(fields['protocol'], protocol) ?? 'TCP'],
    ...(number !== undefined && { port: number }),
    ...(isRange && { endPort }),
  };
};

const portOf = (value: unknown): number | string =>
  (typeof value === 'number' || typeof value === 'string') && isPort(value) ? value : unusual();

const selector = (value: unknown): LabelSelector => {
  const { matchLabels, matchExpressions } = strict(value, SELECTOR);
  return {
    matchLabels: nullish(matchLabels, labels) ?? {},
    matchExpressions: few(matchExpressions, MAX_OF_POLICY.requirements).map(requirement),
  };
};

const labels = (value: unknown): Readonly<Record<string, string>> => {
  const fields = map(value);
  const keys = Object.keys(fields);
  if (keys.length > MAX_OF_POLICY.requirements) unusual();
  for (const key of keys) if (!isLabelKey(key) || typeof fields[key] !== 'string') unusual();
  return fields as Readonly<Record<string, string>>;
};

const requirement = (value: unknown): NonNullable<LabelSelector['matchExpressions']>[number] => {
  const fields = strict(value, REQUIREMENT);
  const key = text(fields['key']);
  const operator = operatorOf(fields['operator']);
  const values = few(fields['values'], MAX_OF_POLICY.values).map(text);
  const needsValues = operator === 'In' || operator === 'NotIn';
  return isLabelKey(key) && values.length > 0 === needsValues ? { key, operator, values } : unusual();
};

const operatorOf = oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'] as const);
