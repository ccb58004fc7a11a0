import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PolicyWorld } from '../../../testing/policy-world.ts';

const spec = (priority: number, rules: number) => ({
  ...{ priority, subject: { namespaces: {} } },
  ingress: [{ action: 'Deny', from: [{ namespaces: {} }], ports: [{ namedPort: 'http' }] }],
  egress: Array.from({ length: rules }, (_, n) => ({
    action: n % 2 ? 'Allow' : 'Deny',
    to: [{ networks: [`192.0.2.${n}/32`] }],
  })),
});

const prioritiesOf = ({ facts }: PolicyWorld) =>
  new Map([...facts.ids('adminRule')].map((id) => [id, facts.get('adminRule', id)?.priority ?? 0]));

const change = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  priority: fc.constantFrom(0, 1, 1, 2, 1000),
  rules: fc.option(fc.constantFrom(1, 20, 26, 60, 100), { nil: undefined }),
});

it('never has two rules the other way around while policies go to other places', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 3, maxLength: 12 }), (changes) => {
      const world = new PolicyWorld()
        .namespace('a', {})
        .pod('a/x', { ips: { default: ['10.128.0.6'] }, ports: ['http:tcp:80'] });
      const known = new Map<string, number>();
      for (const { name, priority, rules } of changes) {
        const key = `AdminNetworkPolicy/${name}`;
        const steps = [prioritiesOf(world)];
        const set = world.facts.set.bind(world.facts);
        world.facts.set = (kind, id, value) => {
          set(kind, id, value);
          if (kind === 'adminRule') steps.push(prioritiesOf(world));
        };
        // One that goes past others is above or below them for a while: it is so by its own change.
        const isElsewhere = known.has(name) && known.get(name) !== priority;
        const counts = (id: string) => !isElsewhere || world.facts.get('adminRule', id)?.policy !== key;
        if (rules === undefined) known.delete(name);
        else known.set(name, priority);
        world.adminPolicy('AdminNetworkPolicy', name, rules && spec(priority, rules));
        world.facts.set = set;
        const end = [...prioritiesOf(world)].filter(([id]) => counts(id)).sort(([, a], [, b]) => b - a);
        const wrong = steps.filter((step) => end.some(([id], at) => at > 0 && isInverted(step, end, id, at)));
        expect(wrong.length).toBe(0);
      }
    }),
    { numRuns: 25 },
  );
});

/** Of rules that stay, those next to each other at the end; those of one priority may be in any order. */
const isInverted = (step: ReadonlyMap<string, number>, end: [string, number][], id: string, at: number): boolean => {
  const [above, priority] = end[at - 1] as [string, number];
  const [high, low] = [step.get(above), step.get(id)];
  return high !== undefined && low !== undefined && priority > (end[at]?.[1] ?? 0) && high <= low;
};
