import { expect, it } from 'vitest';
import { passedOver } from './passed-over.ts';

it('says which objects nothing is rendered from, and nothing of others', () =>
  expect(
    passedOver([
      { kind: 'Service', metadata: { namespace: 'red', name: 'web' } },
      { kind: 'AdminNetworkPolicy', metadata: { name: 'deny' } },
      { kind: 'NetworkPolicy', metadata: { namespace: 'red', name: 'deny' } },
      { kind: 'Pod', metadata: { namespace: 'red', name: 'a' } },
      { kind: 'Deployment', metadata: { namespace: 'red', name: 'a' } },
      { kind: 'AdminNetworkPolicy' },
      'nonsense',
      null,
    ]),
  ).toEqual([
    {
      object: 'AdminNetworkPolicy/deny',
      severity: 'info',
      message: 'is ignored: AdminNetworkPolicy is not supported by render yet',
    },
  ]));
