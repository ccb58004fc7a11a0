import { expect, it } from 'vitest';
import { unknownFields } from './known-fields.ts';

it('finds what Kubernetes would drop, at every depth', () => {
  const daemonSet = {
    apiVersion: 'apps/v1',
    metadata: { labels: { any: 'label' } },
    spec: {
      template: {
        spec: { hostNetwrk: true, containers: [{ name: 'a' }, { probe: {}, securityContext: { root: true } }] },
      },
    },
  };
  expect(unknownFields('V1DaemonSet', daemonSet)).toEqual([
    'spec.template.spec.hostNetwrk',
    'spec.template.spec.containers[1].probe',
    'spec.template.spec.containers[1].securityContext.root',
  ]);
});

it('finds texts where objects belong', () => {
  expect(unknownFields('V1ConfigMap', { data: { key: { not: 'a text' } } })).toEqual(['data.key is no string']);
});
