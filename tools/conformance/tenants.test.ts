import { describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../kube/types.ts';
import { enforceTenancy, sharedNetwork, tenantNetwork, tenantPolicy } from './tenants.ts';

it('labels namespaces of the suite and no others, when they are made', () => {
  const [policy, binding] = tenantPolicy('layer3');
  expect(policy?.['spec']).toMatchObject({
    matchConstraints: {
      objectSelector: { matchExpressions: [{ key: 'e2e-run', operator: 'Exists' }] },
      resourceRules: [{ operations: ['CREATE'], resources: ['namespaces'] }],
    },
    mutations: [
      {
        applyConfiguration: {
          expression:
            "Object{metadata: Object.metadata{labels: {'k8s.ovn.org/primary-user-defined-network': '', 'conformance-suite': 'layer3'}}}",
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

it('a network that is shared is of all namespaces of its suite, and of no other suite', () => {
  expect(sharedNetwork('policies-layer2', { topology: 'Layer2' })).toMatchObject({
    ...{ kind: 'ClusterUserDefinedNetwork', metadata: { name: 'policies-layer2' } },
    spec: {
      namespaceSelector: { matchLabels: { 'conformance-suite': 'policies-layer2' } },
      network: { topology: 'Layer2' },
    },
  });
});

describe('whoever waits for the policy', () => {
  const LABELS = { 'e2e-run': 'probe' };
  /** Of the server, to one request to create a namespace after the other; the last one again and again. */
  const serverThatAnswers = (...answers: readonly object[]) => {
    const left = [...answers];
    const request = (): Promise<unknown> =>
      Promise.resolve({ metadata: { labels: left.length > 1 ? left.shift() : left[0] } });
    return {
      suite: 'layer2',
      client: { request } as unknown as KubeClient,
      objects: { apply: () => Promise.resolve([]) },
    };
  };

  it('goes on when the server labels namespaces, and not yet with those of the suite before', async () => {
    const { client, ...server } = serverThatAnswers(
      LABELS,
      { ...LABELS, 'conformance-suite': 'layer3' },
      { ...LABELS, 'conformance-suite': 'layer2' },
    );
    const request = vi.spyOn(client, 'request');
    await enforceTenancy({ ...server, client }, new AbortController().signal);
    expect(request).toHaveBeenCalledTimes(3);
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
