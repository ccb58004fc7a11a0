import { expect, it } from 'vitest';
import { passedOver } from './passed-over.ts';

it('says which objects nothing is rendered from, and nothing of others', () =>
  expect(
    passedOver([
      { kind: 'Service', metadata: { namespace: 'red', name: 'web' } },
      { kind: 'MultiNetworkPolicy', metadata: { namespace: 'red', name: 'deny' } },
      { kind: 'AdminNetworkPolicy', metadata: { name: 'deny' } },
      { kind: 'NetworkPolicy', metadata: { namespace: 'red', name: 'deny' } },
      { kind: 'Pod', metadata: { namespace: 'red', name: 'a' } },
      { kind: 'Deployment', metadata: { namespace: 'red', name: 'a' } },
      { kind: 'MultiNetworkPolicy' },
      'nonsense',
      null,
    ]),
  ).toEqual([
    {
      object: 'MultiNetworkPolicy/red/deny',
      severity: 'info',
      message: 'is ignored: MultiNetworkPolicy is not supported by render yet',
    },
  ]));
