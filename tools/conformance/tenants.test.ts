import { expect, it } from 'vitest';
import { TENANT_POLICY, tenantNetwork } from './tenants.ts';

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
