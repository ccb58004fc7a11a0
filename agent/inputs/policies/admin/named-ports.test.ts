/** Named ports of which there are too many: tenants write their numbers, and no number may open what administrators close. */
import { describe, expect, it } from 'vitest';
import { PolicyWorld } from '../../../testing/policy-world.ts';

const DB = [{ namedPort: 'db' }];
const EVERYBODY = { namespaces: {} };

const rulesOf = ({ facts }: PolicyWorld, set?: string) =>
  [...facts.ids('adminRule')]
    .flatMap((id) => facts.get('adminRule', id) ?? [])
    .filter(({ subjects }) => set === undefined || subjects === set)
    .map(({ action, l4 }) => `${action} ${l4?.protocol} ${l4?.ports ?? 'all'}`);
const setsOf = ({ facts }: PolicyWorld, pod: string) =>
  (facts.get('podPolicy', pod)?.subjects ?? []).flatMap((id) => {
    const port = facts.get('subjectSet', id)?.port;
    return port === undefined ? [] : { id, port };
  });
const messages = (world: PolicyWorld) => world.index.problems().map(({ message }) => message);

describe('of peers', () => {
  const policy = (action: string) => ({
    priority: 1,
    subject: EVERYBODY,
    egress: [{ action, to: [EVERYBODY], ports: DB }],
  });
  const world = (action: string, numbers: number) => {
    const made = new PolicyWorld().namespace('victim', {}).namespace('evil', {});
    made.adminPolicy('AdminNetworkPolicy', 'd', policy(action));
    made.pod('victim/db', { isLocal: false, ips: { default: ['10.128.1.5'] }, ports: ['db:tcp:5432'] });
    made.pod('evil/x', { ips: { default: ['10.128.0.6'] } });
    for (let n = 0; n < 2 * numbers; n += 1) made.pod(`evil/p${n}`, other(n, numbers));
    return made;
  };
  const other = (n: number, numbers: number) => ({
    ...{ isLocal: false, ips: { default: [`10.128.2.${n + 1}`] }, ports: [`db:tcp:${100 + (n % numbers)}`] },
  });

  it.each(['Deny', 'Pass'])('are denied the protocol where %s cannot name all', (action) => {
    expect(rulesOf(world(action, 15))).toContain(`${action.toLowerCase()} tcp 5432`);
    const many = world(action, 16);
    expect(rulesOf(many)).toEqual(['deny tcp all']);
    expect(messages(many).join()).toMatch(/more than 16 numbers for port db\/tcp/);
    for (const n of [0, 16]) many.pod(`evil/p${n}`, undefined);
    expect(rulesOf(many)).toContain(`${action.toLowerCase()} tcp 5432`);
    expect(messages(many)).toEqual([]);
  });

  it('are allowed those of most pods', () => {
    const rules = rulesOf(world('Allow', 16));
    expect(rules.length).toBe(16);
    expect(rules).not.toContain('allow tcp 5432');
  });
});

describe('of subjects', () => {
  const world = (actions: readonly string[], peers = 1) => {
    const from = Array.from({ length: peers }, (_, k) => ({ namespaces: { matchLabels: { k: `v${k}` } } }));
    const ingress = actions.map((action) => ({ action, from, ports: DB }));
    const made = new PolicyWorld().namespace('a', {});
    return made.adminPolicy('AdminNetworkPolicy', 'd', { priority: 1, subject: EVERYBODY, ingress });
  };
  const local = (n: number) => ({ ips: { default: [`10.128.0.${n + 2}`] }, ports: [`db:tcp:${1000 + n}`] });

  it('share a set that is closed, beyond 64', () => {
    const made = world(['Allow', 'Deny', 'Pass']);
    for (let n = 0; n < 66; n += 1) made.pod(`a/p${n}`, local(n));
    const shared = [...made.facts.ids('subjectSet')].filter(
      (id) => made.facts.get('subjectSet', id)?.port === 'others/tcp',
    );
    expect(shared.length).toBe(1);
    expect(rulesOf(made, shared[0])).toEqual(['deny tcp all', 'deny tcp all']);
    const sharing = Array.from({ length: 66 }, (_, n) => `a/p${n}`).filter(
      (pod) => setsOf(made, pod)[0]?.id === shared[0],
    );
    expect(sharing.length).toBe(2);
    expect(messages(made).join()).toMatch(/more than 64 numbers/);
    for (const pod of sharing) made.pod(pod, undefined);
    expect(rulesOf(made).length).toBe(64 * 3);
    expect(messages(made)).toEqual([]);
  });

  it('does not depend on which came first: those of most pods have their own', () => {
    const pods = Array.from({ length: 70 }, (_, n) => [`a/p${n}`, local(n)] as const);
    const second = ['a/late', { ...local(80), ports: ['db:tcp:1069'] }] as const;
    const [one, other] = [world(['Deny']), world(['Deny'])];
    for (const [pod, spec] of [...pods, second]) one.pod(pod, spec);
    for (const [pod, spec] of [second, ...pods.toReversed()]) other.pod(pod, spec);
    expect(setsOf(one, 'a/late').map(({ port }) => port)).toEqual(['db/tcp=1069']);
    for (const [pod] of [...pods, second]) expect(setsOf(one, pod)).toEqual(setsOf(other, pod));
    expect(rulesOf(one).sort()).toEqual(rulesOf(other).sort());
  });

  it('have fewer sets where each has many rules, and cost what comes', () => {
    const made = world(
      Array.from({ length: 10 }, () => 'Deny'),
      100,
    );
    for (let n = 0; n < 60; n += 1) made.pod(`a/p${n}`, local(n));
    expect(rulesOf(made).length).toBe((4 + 1) * 1000);
  });
});
