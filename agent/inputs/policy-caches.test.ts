import { expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { partOf } from '../../kube/reflector/part-of.ts';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../kube/types.ts';
import { FactStore } from '../model/fact-store.ts';
import { feedFacts } from './fact-feeder.ts';
import { type NamespaceParts, projectNamespaceParts } from './namespace-parts.ts';
import { type NodeProjection, projectNode } from './node-projection.ts';
import { type PodParts, projectPodParts } from './pod-parts.ts';
import { type AdminProjection, projectAdminPolicy } from './policies/admin/admin-projection.ts';
import { projectPolicy } from './policies/policy-projection.ts';
import type { PolicyProjection } from './policies/types.ts';
import { policyCaches } from './policy-caches.ts';

const SETTINGS = {
  ...{ node: 'n1', cluster: parseClusterConfig(), encapIps: [], southboundRemote: '' },
  ...{ networkRendering: 'always' as const, allowedDefaultServices: [] },
};

const metadata = (name: string, rest: object = {}) => ({ name, uid: name, resourceVersion: '1', ...rest });

const pod = (labels: Record<string, string>): KubeObject => {
  const entry = { ip_addresses: ['10.128.0.3/24'], mac_address: '0a:58:0a:80:00:03', role: 'primary' };
  const annotations = { 'k8s.ovn.org/pod-networks': JSON.stringify({ default: entry }) };
  return {
    metadata: metadata('web', { namespace: 'red', labels, annotations }),
    spec: { nodeName: 'n1' },
  } as unknown as KubeObject;
};

const setUp = () => {
  const facts = new FactStore();
  const namespaces = createStaticCache<NamespaceParts>();
  const pods = createStaticCache<PodParts>();
  const policies = createStaticCache<PolicyProjection>();
  const admin = createStaticCache<AdminProjection>();
  const nodes = createStaticCache<NodeProjection>();
  facts.set('nodeSubnets', 'n1/default', []);
  const feeder = feedFacts(
    facts,
    {
      nodes,
      nads: createStaticCache(),
      services: createStaticCache(),
      slices: createStaticCache<never, 'service'>([], { service: () => [] }),
      namespaces: partOf(namespaces, ({ fact }) => fact),
      pods: partOf(pods, ({ pod: part }) => part),
      policies: policyCaches(policies, { AdminNetworkPolicy: admin }, { nodes, namespaces, pods }),
    },
    SETTINGS,
  );
  namespaces.set('red', projectNamespaceParts({ metadata: metadata('red') }));
  const policy = {
    metadata: metadata('web', { namespace: 'red' }),
    spec: { podSelector: { matchLabels: { app: 'web' } } },
  };
  const isolate = (): void => policies.set('red/web', projectPolicy(policy));
  return { facts, pods, policies, admin, nodes, feeder, isolate };
};

it('tells of a pod and of what isolates it in one turn, whichever comes first', () => {
  const { facts, pods, isolate } = setUp();
  isolate();
  pods.set('red/web', projectPodParts(pod({ app: 'web' }), 'n1'));
  expect(facts.get('pod', 'red/web')).toBeDefined();
  expect(facts.get('podPolicy', 'red/web')).toMatchObject({ network: 'default', isolated: ['Ingress'] });
});

it('follows administrators’ policies, and what nodes have for labels and addresses', () => {
  const { facts, pods, admin, nodes } = setUp();
  const node = (address: string) =>
    projectNode({
      metadata: metadata('n2', { labels: { role: 'db' } }),
      status: {
        addresses: [
          { type: 'ExternalIP', address },
          { type: 'Hostname', address: 'n2' },
        ],
      },
    } as unknown as KubeObject);
  const spec = {
    ...{ priority: 1, subject: { namespaces: {} } },
    egress: [{ action: 'Deny', to: [{ nodes: { matchLabels: { role: 'db' } } }] }],
  };
  pods.set('red/web', projectPodParts(pod({ app: 'web' }), 'n1'));
  nodes.set('n2', node('192.0.2.9'));
  admin.set('a', projectAdminPolicy('AdminNetworkPolicy', { metadata: metadata('a'), spec }));
  const peers = () => [...facts.ids('adminRule')].map((id) => facts.get('adminRule', id)?.peers);
  expect(peers()).toEqual([{ kind: 'nodes', addresses: ['192.0.2.9'] }]);
  expect(facts.get('podPolicy', 'red/web')).toMatchObject({ isolated: [], subjects: [expect.any(String)] });
  nodes.set('n2', node('192.0.2.10'));
  expect(peers()).toEqual([{ kind: 'nodes', addresses: ['192.0.2.10'] }]);
  admin.remove('a');
  expect([peers(), facts.get('podPolicy', 'red/web')]).toEqual([[], undefined]);
});

it('changes nothing about a pod when only its labels change, and ends with its feeder', () => {
  const { facts, pods, isolate, feeder } = setUp();
  isolate();
  const before = projectPodParts(pod({ app: 'web' }), 'n1');
  pods.set('red/web', before);
  const fact = facts.get('pod', 'red/web');
  const after = projectPodParts(pod({ app: 'db' }), 'n1', before);
  pods.set('red/web', after);
  expect(facts.get('podPolicy', 'red/web')).toBeUndefined();
  expect(facts.get('pod', 'red/web')).toBe(fact);
  feeder.stop();
  pods.set('red/web', projectPodParts(pod({ app: 'web' }), 'n1', after));
  expect(facts.get('podPolicy', 'red/web')).toBeUndefined();
});
