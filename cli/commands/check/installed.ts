/** Whether what an installation has is there, and as it should be: definitions, rights, policies. */
import { parse } from 'yaml';
import { z } from 'zod';
import { crdFiles } from '../../../api/crd/crds.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject, ObjectRef, ResourceType } from '../../../kube/types.ts';
import {
  AGENT,
  CLUSTER_MANAGER,
  LEASE_VERBS,
  PERMISSIONS,
  POLICIES,
  POLICIES_OF,
  type Program,
} from './expectations.ts';
import { type Finding, failed, findingOf, resultOf } from './finding.ts';
import { isAllowed, type Wish } from './reviews.ts';
import { differenceOf } from './subset.ts';

/** Undefined when there is none. */
export const find = async (
  client: KubeClient,
  resource: ResourceType,
  ref: ObjectRef,
): Promise<KubeObject | undefined> => {
  try {
    return await client.get(resource, ref);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const definitionSchema = z.looseObject({ metadata: z.object({ name: z.string() }), spec: z.unknown() });
const conditionsSchema = z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) });

export const checkDefinitions = (client: KubeClient): Promise<Finding[]> =>
  Promise.all(
    Object.values(crdFiles())
      .map((text) => definitionSchema.parse(parse(text)))
      .map(({ metadata: { name }, spec }) => findingOf(name, () => checkDefinition(client, name, spec))),
  );

const checkDefinition = async (client: KubeClient, name: string, spec: unknown): Promise<Finding> => {
  const there = await find(client, CUSTOM_RESOURCE_DEFINITIONS, { name });
  if (there === undefined) return failed(name, 'it does not exist: kubectl apply -k daemonset/');
  const { conditions } = conditionsSchema.catch({ conditions: [] }).parse(there['status']);
  if (!conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
    return failed(name, 'the API server does not serve it: its conditions say why');
  }
  const difference = differenceOf(spec, there['spec'], 'spec');
  return resultOf(
    name,
    difference === undefined ? [] : [`it differs from this version in ${difference}: apply daemonset/crds again`],
  );
};

export const accountOf = (namespace: string, program: Program): string =>
  `system:serviceaccount:${namespace}:${program}`;

export const checkPermissions = (client: KubeClient, namespace: string, program: Program): Promise<Finding> => {
  const what = `rights of ${program}`;
  const user = accountOf(namespace, program);
  const lease = { resource: 'leases.coordination.k8s.io', namespace, name: program };
  const wishes: Wish[] = [
    ...Object.entries(PERMISSIONS[program]).flatMap(([resource, verbs]) => verbs.map((verb) => ({ resource, verb }))),
    ...(program === CLUSTER_MANAGER ? LEASE_VERBS.map((verb) => ({ ...lease, verb })) : []),
  ];
  return findingOf(what, async () => {
    const missing = await Promise.all(
      wishes.map(async (wish) =>
        (await isAllowed(client, { ...wish, user })) ? [] : [`it may not ${wish.verb} ${wish.resource}`],
      ),
    );
    return resultOf(what, missing.flat());
  });
};

const PROGRAMS = [AGENT, CLUSTER_MANAGER] as const;

const admission = (plural: string, kind: string): ResourceType => ({
  ...{ group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false },
});
const POLICY = admission('validatingadmissionpolicies', 'ValidatingAdmissionPolicy');
const BINDING = admission('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding');

const policySchema = z.object({
  spec: z.object({ matchConditions: z.array(z.object({ expression: z.string() })).default([]) }),
  status: z
    .object({ typeChecking: z.object({ expressionWarnings: z.array(z.object({ warning: z.string() })) }).partial() })
    .partial()
    .optional(),
});
const bindingSchema = z.object({ spec: z.object({ policyName: z.string(), validationActions: z.array(z.string()) }) });

export const checkPolicies = (client: KubeClient, namespace: string): Promise<Finding> =>
  findingOf('admission policies', async () => {
    const faults = await Promise.all(POLICIES.map((name) => policyFaults(client, namespace, name)));
    return resultOf('admission policies', faults.flat());
  });

const policyFaults = async (client: KubeClient, namespace: string, name: string): Promise<string[]> => {
  const [policy, binding] = await Promise.all([find(client, POLICY, { name }), find(client, BINDING, { name })]);
  if (policy === undefined) return [`${name} does not exist`];
  if (binding === undefined) return [`${name} has no binding`];
  const { spec, status } = policySchema.parse(policy);
  const { validationActions } = bindingSchema.parse(binding).spec;
  const expressions = spec.matchConditions.map(({ expression }) => expression).join(' ');
  const unnamed = PROGRAMS.filter((program) => POLICIES_OF[program].includes(name))
    .map((program) => accountOf(namespace, program))
    .filter((account) => !expressions.includes(`'${account}'`));
  return [
    ...(validationActions.includes('Deny') ? [] : [`the binding of ${name} does not deny`]),
    ...unnamed.map((account) => `${name} does not cover the service account ${account}`),
    ...(status?.typeChecking?.expressionWarnings ?? []).map(({ warning }) => `${name}: ${warning.split('\n')[0]}`),
  ];
};
