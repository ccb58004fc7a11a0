import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../../kube/types.ts';
import { enforceTenancy, TENANT_POLICY, tenantNetwork } from './tenants.ts';

it('labels namespaces of the suite and no others, when they are made', () => {
  const [policy, binding] = TENANT_POLICY;
  expect(policy?.['spec']).toMatchObject({
    matchConstraints: {
      objectSelector: { matchExpressions: [{ key: 'e2e-run', operator: 'Exists' }] },
      resourceRules: [{ operations: ['CREATE'], resources: ['namespaces'] }],
    },
    mutations: [
      {
        applyConfiguration: {
          expression: "Object{metadata: Object.metadata{labels: {'k8s.ovn.org/primary-user-defined-network': ''}}}",
        },
      },
    ],
  });
  expect(binding?.['spec']).toEqual({ policyName: policy?.metadata.name });
});

it('a network is of its namespace', () => {
  expect(tenantNetwork('services-1', { topology: 'Layer2' })).toMatchObject({
    ...{ kind: 'UserDefinedNetwork', metadata: { namespace: 'services-1' }, spec: { topology: 'Layer2' } },
  });
});

describe('whoever waits for the policy', () => {
  const LABELS = { 'e2e-run': 'probe' };
  /** Of the server, to one request to create a namespace after the other; the last one again and again. */
  const serverThatAnswers = (...answers: readonly object[]) => {
    const left = [...answers];
    const request = (): Promise<unknown> =>
      Promise.resolve({ metadata: { labels: left.length > 1 ? left.shift() : left[0] } });
    return { client: { request } as unknown as KubeClient, objects: { apply: () => Promise.resolve([]) } };
  };

  it('goes on when the server labels namespaces', async () => {
    const server = serverThatAnswers(LABELS, { ...LABELS, 'k8s.ovn.org/primary-user-defined-network': '' });
    await enforceTenancy(server, new AbortController().signal);
  });

  it('gives up when it never does, and says why', async () => {
    const waiting = enforceTenancy(serverThatAnswers(LABELS), new AbortController().signal, 50);
    await expect(waiting).rejects.toThrow('labels no namespaces by the MutatingAdmissionPolicy');
  });

  it('ends with the run', async () => {
    const stop = new AbortController();
    const waiting = enforceTenancy(serverThatAnswers(LABELS), stop.signal);
    stop.abort(new Error('stopped by SIGINT'));
    await expect(waiting).rejects.toThrow('stopped by SIGINT');
  });
});
