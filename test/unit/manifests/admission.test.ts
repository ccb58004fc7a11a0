/** The policies name the accounts and annotations that the rest of the project has. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { PUBLISHED_ANNOTATIONS } from '../../../agent/node/annotations.ts';
import {
  NAD_ANNOTATIONS,
  NODE_ANNOTATIONS,
  POD_ANNOTATIONS,
  PRIMARY_NETWORK_LABEL,
  UDN_FINALIZER,
} from '../../../api/names.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS } from '../../../api/resources.ts';
import { readKustomization, readManifests, bindingSchema as roleBindingSchema, roleSchema } from './load.ts';

const expression = z.object({ name: z.string(), expression: z.string() });
const policySchema = z.object({
  kind: z.literal('ValidatingAdmissionPolicy'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    failurePolicy: z.string(),
    matchConditions: z.array(expression).default([]),
    variables: z.array(expression).default([]),
    validations: z.array(z.object({ expression: z.string() })),
  }),
});
const bindingSchema = z.object({
  kind: z.literal('ValidatingAdmissionPolicyBinding'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({ policyName: z.string(), validationActions: z.tuple([z.literal('Deny')]) }).strict(),
});

const policies = new Map(
  readManifests()
    .flatMap((one) => policySchema.safeParse(one).data ?? [])
    .map((policy) => [policy.metadata.name, policy.spec] as const),
);
const bindings = readManifests().flatMap((one) => bindingSchema.safeParse(one).data ?? []);

const specOf = (name: string) => {
  const spec = policies.get(name);
  if (spec === undefined) throw new Error(`there is no policy ${name}`);
  return spec;
};

/** What is written in quotes in the expressions. */
const quoted = (expressions: readonly { readonly expression: string }[]): string[] =>
  [
    ...new Set(
      expressions.flatMap(({ expression: text }) => [...text.matchAll(/'([^']+)'/g)].map(([, one = '']) => one)),
    ),
  ].sort();

it('each policy has a binding of its name, for everything, that denies; and nothing passes when it fails', () => {
  expect(bindings.map(({ metadata }) => metadata.name).toSorted()).toEqual([...policies.keys()].sort());
  for (const { metadata, spec } of bindings) expect(spec.policyName).toBe(metadata.name);
  for (const { failurePolicy } of policies.values()) expect(failurePolicy).toBe('Fail');
});

const ACCOUNTS = ['udn-agent', 'udn-cluster-manager'].map(
  (account) => `system:serviceaccount:${readKustomization().namespace}:${account}`,
);
/** What conditions name besides the accounts. */
const keysOf = (policy: string): string[] =>
  quoted(specOf(policy).matchConditions).filter((text) => !ACCOUNTS.includes(text));
const variable = (policy: string, requested: string): string[] =>
  quoted(specOf(policy).variables.filter(({ name }) => name === requested));

it.each(['ovn-udn-nodes', 'ovn-udn-pods'])('%s knows the programs by the names that they have', (name) => {
  const { matchConditions, variables } = specOf(name);
  expect(quoted(matchConditions)).toEqual(expect.arrayContaining(ACCOUNTS));
  expect(quoted(variables.filter((one) => one.name === 'isAgent'))).toEqual([ACCOUNTS[0]]);
  expect(quoted(variables.filter((one) => one.name === 'isOurs'))).toEqual([ACCOUNTS[1]]);
});

it.each(['ovn-udn-agent-events', 'ovn-udn-node-reports'])('%s knows agents by their account', (name) => {
  expect(quoted(specOf(name).matchConditions)).toEqual([ACCOUNTS[0]]);
});

it('the programs own what they write', () => {
  const given = [NODE_ANNOTATIONS.subnets, NODE_ANNOTATIONS.id, NODE_ANNOTATIONS.transitAddresses].toSorted();
  expect(variable('ovn-udn-nodes', 'ofAgents')).toEqual([...PUBLISHED_ANNOTATIONS].sort());
  expect(variable('ovn-udn-nodes', 'ofTheClusterManager')).toEqual(given);
  for (const name of ['ovn-udn-nodes', 'ovn-udn-new-nodes']) expect(keysOf(name)).toEqual(given);
  const ofPods = [POD_ANNOTATIONS.networks, POD_ANNOTATIONS.networkStatus];
  expect(variable('ovn-udn-pods', 'owned')).toEqual(ofPods);
  expect(variable('ovn-udn-pods', 'foreign')).toEqual([POD_ANNOTATIONS.networkStatus]);
  for (const name of ['ovn-udn-pods', 'ovn-udn-new-pods']) expect(keysOf(name)).toEqual(ofPods);
  expect(keysOf('ovn-udn-network-allocations')).toEqual(Object.values(NAD_ANNOTATIONS).toSorted());
});

it('the names in the other policies are those of the project', () => {
  expect(quoted(specOf('ovn-udn-finalizers').matchConditions)).toEqual([
    UDN_FINALIZER,
    NETWORK_ATTACHMENT_DEFINITIONS.plural,
  ]);
  expect(keysOf('default-network-annotation')).toEqual([POD_ANNOTATIONS.defaultNetwork]);
  expect(quoted(specOf('user-defined-networks-namespace-label').validations)).toEqual([PRIMARY_NETWORK_LABEL]);
});

/** For people, who bind it themselves: `udnctl --node` is exec into the agent's pod. */
const NODE_TOOLS = 'ovn-udn-node-tools';

it('one role runs commands in pods of its own namespace, and nobody is bound to it', () => {
  const manifests = readManifests();
  const role = manifests.flatMap((one) => roleSchema.safeParse(one).data ?? []).find(isNodeTools);
  expect(role?.kind).toBe('Role');
  expect(role?.rules.map(({ resources, verbs }) => [...resources, ...verbs])).toEqual([
    ['pods', 'get', 'list'],
    ['pods/log', 'get'],
    ['pods/exec', 'get', 'create'],
  ]);
  const bound = manifests.flatMap((one) => roleBindingSchema.safeParse(one).data?.roleRef.name ?? []);
  expect(bound).not.toContain(NODE_TOOLS);
});

const isNodeTools = ({ metadata }: { readonly metadata: { readonly name: string } }): boolean =>
  metadata.name === NODE_TOOLS;

it('no other role has a wildcard, reads Secrets, runs anything in pods, or acts as somebody else', () => {
  const roles = readManifests()
    .flatMap((one) => roleSchema.safeParse(one).data ?? [])
    .filter((role) => !isNodeTools(role));
  const words = roles.flatMap(({ rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]),
  );
  expect(roles.length).toBeGreaterThan(3);
  for (const word of [
    'secrets',
    'pods/exec',
    'pods/attach',
    'serviceaccounts/token',
    'impersonate',
    'escalate',
    'bind',
  ]) {
    expect(words).not.toContain(word);
  }
  expect(words.filter((word) => word.includes('*'))).toEqual([]);
});
