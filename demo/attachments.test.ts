import { expect, it } from 'vitest';
import type { ManifestObject } from '../sandbox/index.ts';
import type { ReachabilityPod } from '../test/oracles/reachability/types.ts';
import { planAttachments, renderAttachments } from './attachments.ts';

const NETWORK: ManifestObject = {
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'UserDefinedNetwork',
  metadata: { namespace: 'red', name: 'red' },
};
const pod = (key: string, node: string): ReachabilityPod => ({ key, hostname: key, node, attachments: [] });

it('attaches pods of the first tenant on both nodes, beside one that is not', () => {
  const plan = planAttachments([NETWORK], [pod('blue/a', 'node-2'), pod('red/a', 'node-1')]);
  expect(plan).toMatchObject({ stranger: 'red/a', from: 'red/attached-1', to: 'red/attached-2' });
  expect(plan?.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'UserDefinedNetwork storage',
    'ClusterUserDefinedNetwork vlan-100',
    'Pod attached-1',
    'Pod attached-2',
  ]);
});

it('has nothing to show without a tenant, and on one node', () => {
  expect(planAttachments([NETWORK], [pod('blue/a', 'node-1'), pod('blue/b', 'node-2')])).toBeUndefined();
  expect(planAttachments([NETWORK], [pod('red/a', 'node-1')])).toBeUndefined();
  expect(planAttachments([], [pod('red/a', 'node-1'), pod('red/b', 'node-2')])).toBeUndefined();
});

it('shows both families of a way in one line', () => {
  const way = { from: 'red/a', to: 'red/b', network: 'red_storage', expected: true, observed: true };
  const results = ['10.60.0.2', 'fd00:10:60::2'].map((address) => ({ ...way, address }) as never);
  expect(renderAttachments(results, { paint: (_, text) => text })).toBe(
    'red/a  →  red/b  by  red_storage  IPv4 ✓  IPv6 ✓',
  );
});
