import { expect, it } from 'vitest';
import { projectNode } from './node-projection.ts';

const project = (subnets: string) =>
  projectNode({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { 'k8s.ovn.org/node-subnets': subnets },
    },
  });

it('the subnets of other networks are known although those of one cannot be read', () => {
  const text = '{"default":["10.128.0.0/23"],"a":"nonsense","b":["10.1.0.0/24",7],"c":{"x":1},"d":"10.2.0.0/24"}';
  const { subnets, problems } = project(text);
  expect([...subnets]).toEqual([
    ['default', ['10.128.0.0/23']],
    ['b', ['10.1.0.0/24']],
    ['d', ['10.2.0.0/24']],
  ]);
  expect(problems).toHaveLength(1);
});

it.each(['', '[', '[]', '7', 'null', '"10.1.0.0/24"'])('%j has no subnets', (text) => {
  expect([...project(text).subnets]).toEqual([]);
});
