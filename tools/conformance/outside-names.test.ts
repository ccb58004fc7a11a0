import { expect, it, vi } from 'vitest';
import type { Sandbox } from '../../sandbox/index.ts';
import { namesPolicy, serveNames } from './outside-names.ts';

const [policy, binding] = namesPolicy('layer3', ['172.20.0.2', 'fd00:20::2']);

it('changes pods of the suite that ask the cluster, and none of the nodes', () => {
  expect(policy?.['spec']).toMatchObject({
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'conformance-suite': 'layer3' } },
      resourceRules: [{ operations: ['CREATE'], resources: ['pods'] }],
    },
    matchConditions: [
      { expression: "object.spec.dnsPolicy == 'ClusterFirst'" },
      { expression: '!has(object.spec.hostNetwork) || !object.spec.hostNetwork' },
    ],
  });
  expect(binding?.['spec']).toEqual({ policyName: policy?.metadata.name });
});

it('names servers of both families, and the search path of the namespace', () => {
  const text = JSON.stringify(policy);
  expect(text).toContain("nameservers: ['172.20.0.2', 'fd00:20::2']");
  expect(text).toContain("searches: [request.namespace + '.svc.cluster.local', 'svc.cluster.local', 'cluster.local']");
});

it('starts the server beside the programs, and finds where it answers', async () => {
  const addresses = [{ addr_info: [{ local: '172.20.0.2' }, { local: 'fd00:20::2' }, {}] }, {}];
  const outside = vi.fn((argv: readonly string[]) =>
    Promise.resolve({ stdout: argv[0] === 'ip' ? JSON.stringify(addresses) : '', stderr: '', status: 0 }),
  );
  await expect(serveNames({ outside } as unknown as Sandbox)).resolves.toEqual(['172.20.0.2', 'fd00:20::2']);
  expect(outside.mock.calls[0]?.[0].join(' ')).toContain('/coredns -conf');
});
