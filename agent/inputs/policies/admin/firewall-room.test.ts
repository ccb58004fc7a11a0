/** What firewalls of a node may cost it together. */
import { describe, expect, it } from 'vitest';
import { PolicyWorld } from '../../../testing/policy-world.ts';

type Rules = readonly object[];

const names = (namespace: string, count: number, type = 'Allow'): Rules =>
  Array.from({ length: count }, (_, index) => ({ type, to: { dnsName: `n${index}.${namespace}.example` } }));
const REST = { type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } };
const ALLOWED = { type: 'Allow', to: { cidrSelector: '192.0.2.0/24' } };
const nodes = (count: number): Rules =>
  Array.from({ length: count }, () => ({
    ...{ type: 'Allow', to: { nodeSelector: {} } },
    ports: [1, 2, 3].map((port) => ({ protocol: 'TCP', port })),
  }));
const ports = (count: number): Rules =>
  Array.from({ length: count }, (_, index) => ({
    ...ALLOWED,
    ports: [1, 2].map((port) => ({ protocol: 'TCP', port: port * 10_000 + index })),
  }));

const join = (world: PolicyWorld, namespace: string, egress: Rules): void => {
  world.namespace(namespace, {}).adminPolicy('EgressFirewall', `${namespace}/default`, { egress });
  world.pod(`${namespace}/a`, { ips: { default: ['10.128.0.3'] } });
};
const rulesOf = ({ facts }: PolicyWorld, namespace: string) =>
  [...facts.ids('adminRule')].flatMap((id) => {
    const rule = facts.get('adminRule', id);
    return rule?.policy === `EgressFirewall/${namespace}/default` ? [rule] : [];
  });
const namesIn = ({ facts }: PolicyWorld): number => [...facts.ids('domainSet')].length;
/** Kinds of peers and actions, each once. */
const shape = (world: PolicyWorld, namespace: string): string[] => [
  ...new Set(rulesOf(world, namespace).map(({ action, peers }) => `${action} ${peers.kind}`)),
];

describe('room for the domain names of firewalls', () => {
  const fill = (world: PolicyWorld): void => {
    for (let index = 0; index < 7; index += 1) join(world, `f${index}`, names(`f${index}`, 256));
  };

  it('is for the smallest first: who denies by a name without room denies all, whoever came first', () => {
    const world = new PolicyWorld();
    join(world, 'big', [...names('big', 256, 'Deny'), ALLOWED]);
    fill(world);
    expect(world.index.problems()).toMatchObject([{ object: expect.stringMatching(/^EgressFirewall\//) }]);
    join(world, 'small', [...names('small', 200, 'Deny'), ALLOWED]);
    expect(shape(world, 'small')).toEqual(['deny domains', 'allow blocks']);
    join(world, 'late', [...names('late', 255, 'Deny'), REST]);
    expect(shape(world, 'late')).toEqual(['deny domains', 'deny blocks']);
    expect(namesIn(world)).toBeLessThanOrEqual(2000);
    const closed = world.index.problems().map(({ object }) => object.split('/')[1] ?? '');
    expect(closed).toHaveLength(2);
    for (const one of closed) expect(shape(world, one)).toEqual(one === 'big' ? ['deny any'] : []);
  });

  it('closes all of a firewall that denies by name, and of others the rules by name alone', () => {
    const world = new PolicyWorld();
    fill(world);
    for (const [namespace, type] of [
      ['deny', 'Deny'],
      ['allow', 'Allow'],
    ] as const) {
      join(world, namespace, [...names(namespace, 256, type), ALLOWED, REST]);
    }
    // All are of one size: which are over is the same on a node that has seen them in another order.
    const other = new PolicyWorld();
    join(other, 'allow', [...names('allow', 256), ALLOWED, REST]);
    fill(other);
    join(other, 'deny', [...names('deny', 256, 'Deny'), ALLOWED, REST]);
    for (const namespace of ['allow', 'deny', 'f0', 'f1', 'f6'])
      expect(rulesOf(other, namespace)).toEqual(expect.arrayContaining(rulesOf(world, namespace)));
    expect(messages(other)).toEqual(messages(world));
    // Smaller ones have room before; then the two are over.
    for (const one of [world, other])
      for (let index = 0; index < 9; index += 1) join(one, `s${index}`, names(`s${index}`, 200));
    expect(shape(world, 'deny')).toEqual(['deny any']);
    expect(shape(world, 'allow')).toEqual(['allow blocks', 'deny blocks']);
    expect(messages(world).filter((message) => !message.includes('/f'))).toEqual([
      'EgressFirewall/allow/default: the firewalls of namespaces with pods on this node need more than 2000 domain names, and this one, with 256, more than its share; its rules with domain names allow nothing',
      'EgressFirewall/deny/default: the firewalls of namespaces with pods on this node need more than 2000 domain names, and this one, with 256, more than its share; all that leaves the cluster is denied',
    ]);
  });

  it('comes back when a pod, a rule or a firewall goes', () => {
    const world = new PolicyWorld();
    for (let index = 0; index < 7; index += 1) join(world, `f${index}`, names(`f${index}`, 250));
    join(world, 'big', names('big', 256, 'Deny'));
    expect(shape(world, 'big')).toEqual(['deny any']);
    world.pod('f0/a', undefined);
    expect(shape(world, 'big')).toEqual(['deny domains']);
    world.pod('f0/a', { ips: { default: ['10.128.0.3'] } });
    expect(shape(world, 'big')).toEqual(['deny any']);
    world.adminPolicy('EgressFirewall', 'f1/default', { egress: names('f1', 200) });
    expect(shape(world, 'big')).toEqual(['deny domains']);
    world.adminPolicy('EgressFirewall', 'f1/default', { egress: names('f1', 250) });
    world.adminPolicy('EgressFirewall', 'f2/default', undefined);
    expect(shape(world, 'big')).toEqual(['deny domains']);
    expect(world.index.problems()).toEqual([]);
    for (let index = 0; index < 7; index += 1) world.pod(`f${index}/a`, undefined);
    world.pod('big/a', undefined);
    expect([namesIn(world), [...world.facts.ids('adminRule')]]).toEqual([0, []]);
  });

  it('counts a name once, whoever has it', () => {
    const world = new PolicyWorld();
    for (let index = 0; index < 20; index += 1) join(world, `f${index}`, names('same', 256));
    expect(world.index.problems()).toEqual([]);
  });
});

const messages = ({ index }: PolicyWorld): string[] =>
  index
    .problems()
    .map(({ object, message }) => `${object}: ${message}`)
    .sort();

it('bounds the sets of nodes’ addresses of a node', () => {
  const world = new PolicyWorld();
  for (let index = 0; index < 5; index += 1) join(world, `f${index}`, nodes(64));
  world.node('n1', { labels: {}, ips: ['172.18.0.2'] });
  expect(messages(world)).toEqual([]);
  join(world, 'more', nodes(64));
  expect(messages(world)).toEqual([expect.stringMatching(/need more than 1024 sets of nodes’ addresses.* with 192,/)]);
  join(world, 'small', nodes(2));
  expect(shape(world, 'small')).toEqual(['allow nodes']);
  expect(rulesOf(world, 'small')).toHaveLength(6);
});

it('bounds the ACLs of a node', () => {
  const world = new PolicyWorld();
  for (let index = 0; index < 4; index += 1) join(world, `f${index}`, ports(8000));
  expect(messages(world)).toEqual([]);
  join(world, 'more', ports(1000));
  expect(messages(world)).toEqual([expect.stringMatching(/need more than 65536 ACLs.* with 16000,/)]);
  expect(shape(world, 'more')).toEqual(['allow blocks']);
  expect([...world.facts.ids('adminRule')].length).toBeLessThanOrEqual(65_536);
});
