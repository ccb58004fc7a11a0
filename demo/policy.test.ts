import { expect, it } from 'vitest';
import type { ManifestObject } from '../sandbox/index.ts';
import type { ReachabilityPod } from '../test/oracles/reachability/types.ts';
import { isDenied, planPolicy } from './policy.ts';

const manifest = (kind: string, namespace: string, name: string, labels = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace, name, labels },
});
const pod = (key: string): ReachabilityPod => ({ key, hostname: key, node: 'node-1', attachments: [] });

const NETWORK = manifest('UserDefinedNetwork', 'red', 'red');
const PODS = ['red/a', 'red/web', 'blue/web'].map(pod);

it('parts the pods of the first network, and denies only who is not selected', () => {
  const web = { app: 'web' };
  const plan = planPolicy([NETWORK, manifest('Pod', 'red', 'web', web), manifest('Pod', 'blue', 'web', web)], PODS);
  expect(plan?.policy.metadata).toEqual({ namespace: 'red', name: 'web' });
  expect(plan?.pods.map(({ key }) => key)).toEqual(['red/a', 'red/web']);
  expect(plan && isDenied(plan, 'red/a', 'red/web')).toBe(true);
  expect(plan && isDenied(plan, 'red/web', 'red/a')).toBe(false);
});

it('has nothing to show where no pod, or every pod, would be isolated', () => {
  const all = ['a', 'web'].map((name) => manifest('Pod', 'red', name, { app: 'web' }));
  expect(planPolicy([NETWORK, ...all], PODS)).toBeUndefined();
  expect(planPolicy([NETWORK], PODS)).toBeUndefined();
  expect(planPolicy([], PODS)).toBeUndefined();
});
