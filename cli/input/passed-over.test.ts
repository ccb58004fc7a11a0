import { expect, it } from 'vitest';
import { passedOver } from './passed-over.ts';

it('says which objects nothing is rendered from, and nothing of others', () =>
  expect(
    passedOver([
      { kind: 'Service', metadata: { namespace: 'red', name: 'web' } },
      { kind: 'NetworkPolicy', metadata: { name: 'deny' } },
      { kind: 'Pod', metadata: { namespace: 'red', name: 'a' } },
      { kind: 'Deployment', metadata: { namespace: 'red', name: 'a' } },
      { kind: 'NetworkPolicy' },
      'nonsense',
      null,
    ]),
  ).toEqual([
    {
      object: 'NetworkPolicy/deny',
      severity: 'info',
      message: 'is ignored: NetworkPolicy is not supported by render yet',
    },
  ]));
