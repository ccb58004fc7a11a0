/** Firewalls of namespaces without pods of this node: each agent of a cluster gets all of them. */
import { expect, it } from 'vitest';
import type { Labels } from '../../../../api/label-selector.ts';
import { PolicyWorld } from '../../../testing/policy-world.ts';
import { projectAdminPolicy } from './admin-projection.ts';

const SPEC = { egress: [{ type: 'Deny', to: { nodeSelector: { matchLabels: { db: 'yes' } } } }] };

it('costs a node nothing when nodes change', () => {
  const world = new PolicyWorld().namespace('red', {}).adminPolicy('EgressFirewall', 'red/default', SPEC);
  let looks = 0;
  const labels = new Proxy<Labels>(
    { db: 'yes' },
    {
      getOwnPropertyDescriptor: (target, key) => {
        looks += 1;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
    },
  );
  world.node('n1', { labels, ips: ['172.18.0.2'] });
  expect(looks).toBe(0);
  world.pod('red/a', { ips: { default: ['10.128.0.3'] } });
  expect(looks).toBeGreaterThan(0);
  const [rule = ''] = world.facts.ids('adminRule');
  expect(world.facts.get('adminRule', rule)?.peers).toEqual({ kind: 'nodes', addresses: ['172.18.0.2'] });
});

it('is worked out when its first pod comes, and closes that when it cannot be', () => {
  const world = new PolicyWorld().namespace('red', {});
  const known = projectAdminPolicy('EgressFirewall', {
    ...{ metadata: { name: 'default', namespace: 'red', uid: 'u' }, spec: SPEC },
  });
  let tries = 0;
  const policy = {
    ...known.policy,
    get egress(): never {
      tries += 1;
      throw new RangeError('Maximum call stack size exceeded');
    },
  };
  world.index.changeAdminPolicy('EgressFirewall/red/default', { ...known, policy });
  expect([tries, world.index.problems()]).toEqual([0, []]);
  world.pod('red/a', { ips: { default: ['10.128.0.3'] } });
  expect(tries).toBe(1);
  expect(world.facts.get('podPolicy', 'red/a')).toMatchObject({ isolated: ['Ingress', 'Egress'], rules: [] });
  expect(world.index.problems()).toMatchObject([{ object: 'EgressFirewall/red/default' }]);
  world.index.changeAdminPolicy('EgressFirewall/red/default', known);
  expect(world.facts.get('podPolicy', 'red/a')?.isolated).toEqual([]);
  expect(world.index.problems()).toEqual([]);
});
