import { expect, it } from 'vitest';
import type { PolicyFacts } from '../../api/policy.ts';
import { KubeError } from '../../kube/errors.ts';
import { type PolicySources, unenforcedPolicies } from './unenforced-policies.ts';

const policy = (kind: string, namespace: string | undefined, name: string): PolicyFacts => ({
  ...{ kind, apiVersion: 'x/v1', namespace, name, uid: 'u', podSelector: undefined },
});
const POLICIES = [
  policy('AdminNetworkPolicy', undefined, 'all'),
  policy('MultiNetworkPolicy', 'red', 'second'),
  policy('MultiNetworkPolicy', 'blue', 'third'),
];

const WORKING = [{ component: 'api-server', state: 'working' }] as const;

const problems = (
  namespaces: readonly string[],
  policies: PolicySources['policies'],
  components: ReturnType<PolicySources['components']> = WORKING,
  limit?: AbortSignal,
) =>
  unenforcedPolicies(
    {
      node: 'n1',
      registry: {
        values: () => namespaces.map((namespace) => ({ pod: { namespace } })),
      },
      policies,
      components: () => components,
    },
    new AbortController().signal,
    limit,
  );

it('names those of namespaces that have pods here, and those of the cluster, as warnings of one cause', async () => {
  const found = await problems(['red', 'red'], () => Promise.resolve(POLICIES));
  expect(found.map(({ object }) => object)).toEqual(['AdminNetworkPolicy/all', 'MultiNetworkPolicy/red/second']);
  expect(new Set(found.map(({ severity, cause }) => `${severity} ${cause}`))).toEqual(
    new Set(['warning policy-not-enforced']),
  );
  expect(found.at(-1)?.message).toBe(
    'ovn-udn does not enforce a MultiNetworkPolicy: traffic that it denies is allowed',
  );
});

it('names none where no pod is', async () => {
  expect(await problems([], () => Promise.resolve(POLICIES))).toEqual([]);
});

it('says why they were not read, unless the server is away', async () => {
  const forbidden = new KubeError('ERR_KUBE_STATUS', 'may not list', { status: 403, reason: 'Forbidden' });
  expect(await problems(['red'], () => Promise.reject(forbidden))).toEqual([
    {
      ...{ object: 'Node/n1', severity: 'warning', cause: 'api-unread' },
      message: 'network policies were not read: may not list',
    },
  ]);
  const away = new KubeError('ERR_KUBE_NETWORK', 'connection refused');
  expect(await problems(['red'], () => Promise.reject(away))).toEqual([]);
});

it('says that they were not read by a server that is slow, and nothing of one that is known to be away', async () => {
  const never: PolicySources['policies'] = (signal) =>
    new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      else signal.addEventListener('abort', () => reject(signal.reason));
    });
  expect(await problems(['red'], never, WORKING, AbortSignal.abort())).toEqual([
    {
      ...{ object: 'Node/n1', severity: 'warning', cause: 'api-unread' },
      message: 'network policies were not read: the API server did not answer within 3 s',
    },
  ]);
  const away = [{ component: 'api-server', state: 'failed' }] as const;
  expect(await problems(['red'], never, away, AbortSignal.abort())).toEqual([]);
});
