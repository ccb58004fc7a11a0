import { expect, it } from 'vitest';
import { createStaticCache } from '../../kube/reflector/static-cache.ts';
import { projectNode } from '../inputs/node-projection.ts';
import type { DesiredAnnotations } from './annotations.ts';
import { publishNode } from './publisher.ts';

const PUBLISHED = {
  'k8s.ovn.org/node-chassis-id': 'c1',
  'k8s.ovn.org/node-encap-ips': '["172.30.0.2"]',
  'k8s.ovn.org/zone-name': 'n1',
};

const project = (annotations: Readonly<Record<string, string>>) =>
  projectNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1', annotations },
  });

const setUp = (annotations: Readonly<Record<string, string>>, refuse = 0, desired: DesiredAnnotations = PUBLISHED) => {
  const nodes = createStaticCache([['n1', project(annotations)]]);
  const applied: unknown[] = [];
  const retries: (() => void)[] = [];
  let refusals = refuse;
  publishNode({
    node: 'n1',
    desired: () => desired,
    nodes,
    writer: {
      apply: (_, { metadata }) => {
        applied.push(metadata.annotations);
        return refusals-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve(undefined as never);
      },
    },
    onError: () => undefined,
    later: (retry) => retries.push(retry),
  });
  return { nodes, applied, retries };
};

it('publishes once, and nothing when it is there already', () => {
  expect(setUp({}).applied).toEqual([PUBLISHED]);
  expect(setUp(PUBLISHED).applied).toEqual([]);
});

it.each(Object.keys(PUBLISHED))('puts %s back when somebody takes it away', (name) => {
  const { nodes, applied } = setUp(PUBLISHED);
  nodes.set('n1', project(Object.fromEntries(Object.entries(PUBLISHED).filter(([key]) => key !== name))));
  expect(applied).toEqual([PUBLISHED]);
});

it('tries again later what the API refuses', async () => {
  const { applied, retries } = setUp({}, 1);
  await new Promise(setImmediate);
  for (const retry of retries.splice(0)) retry();
  expect(applied).toEqual([PUBLISHED, PUBLISHED]);
});

it('keeps what it does not know yet, and takes away what must not be there', () => {
  const before = {
    ...PUBLISHED,
    'k8s.ovn.org/host-cidrs': '["10.0.0.1/24"]',
    'k8s.ovn.org/gateway-mtu-support': 'false',
  };
  expect(setUp(before).applied).toEqual([]);
  const { applied } = setUp(before, 0, { ...PUBLISHED, 'k8s.ovn.org/gateway-mtu-support': null });
  expect(applied).toEqual([{ ...PUBLISHED, 'k8s.ovn.org/host-cidrs': '["10.0.0.1/24"]' }]);
});

it('leaves annotations of others out of it', () => {
  expect(setUp({ ...PUBLISHED, 'k8s.ovn.org/node-id': '3' }).applied).toEqual([]);
});
