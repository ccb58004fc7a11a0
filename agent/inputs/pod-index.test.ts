/** Over 300 lines: which of two pods has what both claim, case by case. */
import { describe, expect, it } from 'vitest';
import { SAME, setUp } from '../testing/pod-index.ts';

describe('an address that two pods have', () => {
  it.each([
    ['the older one has it, whichever is seen first', { second: 2 }, { second: 1 }, 'b/b', 'a/a'],
    ['of one second, the one that was seen first', { second: 1 }, { second: 1 }, 'a/a', 'b/b'],
  ])('%s', (_, first, second, winner, loser) => {
    const it = setUp();
    it.put('a/a', { ...first, ips: SAME });
    it.put('b/b', { ...second, ips: SAME });
    expect([it.networks(winner), it.refused(winner)]).toEqual([['default'], []]);
    const taken = `10.128.0.3 on network default belongs to pod ${winner}; MAC 0a:58:0a:80:00:03 on network default belongs to pod ${winner}`;
    expect(it.refused(loser)).toEqual([['default', taken]]);
  });

  it('the other gets it when the one that has it is gone or has finished', () => {
    for (const end of [undefined, { ips: SAME, phase: 'Succeeded' }]) {
      const it = setUp();
      it.put('a/a', { ips: SAME });
      it.put('b/b', { ips: SAME });
      expect(it.networks('b/b')).toEqual([]);
      it.put('a/a', end);
      expect([it.networks('b/b'), it.refused('b/b')]).toEqual([['default'], []]);
    }
  });

  it('stays with the pod that has it, while that one’s annotation is damaged', () => {
    const it = setUp();
    it.put('a/a', { ips: SAME });
    it.put('a/a', {});
    it.put('b/b', { ips: SAME });
    expect([it.networks('a/a'), it.networks('b/b')]).toEqual([['default'], []]);
  });

  it('does not take what a running pod had before', () => {
    const it = setUp();
    it.put('a/a', { ips: SAME });
    it.put('b/b', { ips: { default: '10.128.0.4/23' } });
    it.put('b/b', { ips: SAME });
    expect(it.facts.get('pod', 'b/b')).toMatchObject({ lost: new Set(['default']) });
    expect(it.facts.get('pod', 'b/b')?.networks.get('default')?.ipAddresses).toEqual(['10.128.0.4/23']);
  });

  it('belongs to one pod of a network of several namespaces, and to one of each of two networks', () => {
    const it = setUp();
    it.put('a/a', { ips: { 'a/shared': '10.0.0.3/24' } });
    it.put('b/b', { ips: { 'b/shared': '10.0.0.3/24' } });
    it.put('c/c', { ips: { 'c/own': '10.0.0.3/24' } });
    expect([it.networks('a/a'), it.networks('b/b'), it.networks('c/c')]).toEqual([['a/shared'], [], ['c/own']]);
  });
});

describe('pods of one virtual machine', () => {
  const machine = { machine: 'vm', ips: { 'b/net': '10.0.0.3/24' } };

  const source = { ...machine, tunnelId: 17, node: 'node2', second: 1 };
  const target = { ...machine, tunnelId: 18, second: 2 };
  const standby = ({ facts }: ReturnType<typeof setUp>) =>
    ['b/source', 'b/target'].flatMap((key) => {
      const holder = facts.get('pod', key)?.standby?.get('b/net');
      return holder === undefined ? [] : [`${key} for ${holder}`];
    });

  it('have a port each, and the target’s waits until the machine runs there', () => {
    const it = setUp();
    it.put('b/source', source);
    expect(standby(it)).toEqual([]);
    it.put('b/target', target);
    expect([it.networks('b/target'), it.refused('b/target')]).toEqual([['b/net'], []]);
    expect(standby(it)).toEqual(['b/target for b/source']);
    it.put('b/target', { ...target, isMigrated: true });
    expect(standby(it)).toEqual(['b/source for b/target']);
    it.put('b/source', { ...source, phase: 'Succeeded' });
    expect(standby(it)).toEqual([]);
    it.put('b/source', undefined);
    expect([standby(it), it.networks('b/target')]).toEqual([[], ['b/net']]);
  });

  it.each([
    ['has failed', { ...target, isMigrated: true, phase: 'Failed' }],
    ['is gone', undefined],
  ])('leave the machine with the source when the target %s', (_, end) => {
    const it = setUp();
    it.put('b/source', source);
    it.put('b/target', { ...target, isMigrated: true });
    expect(standby(it)).toEqual(['b/source for b/target']);
    it.put('b/target', end);
    expect(standby(it)).toEqual([]);
  });

  it('decide alike in whichever order they are seen, and when they move back and forth', () => {
    const it = setUp();
    it.put('b/target', { ...target, node: 'node2' });
    it.put('b/source', { ...source, node: 'node1', isMigrated: true });
    expect(standby(it)).toEqual(['b/target for b/source']);
    it.put('b/target', { ...target, node: 'node2', isMigrated: true });
    expect(standby(it)).toEqual(['b/source for b/target']);
  });

  it('have what no other pod has that is older, whether the machine runs there or not', () => {
    const it = setUp();
    it.put('b/other', { ips: machine.ips, tunnelId: 16, second: 0 });
    it.put('b/source', source);
    it.put('b/target', { ...target, isMigrated: true });
    for (const key of ['b/source', 'b/target']) {
      expect([it.networks(key), it.refused(key)[0]?.[1]]).toEqual([
        [],
        expect.stringMatching(/belongs to pod b\/other/),
      ]);
    }
  });

  it('share a MAC that both ask for, with addresses of their own', () => {
    const it = setUp();
    const mac = '02:00:00:00:00:01';
    it.put('b/source', { ...source, mac });
    it.put('b/target', { ...target, mac, ips: { 'b/net': '10.0.0.4/24' } });
    expect(standby(it)).toEqual(['b/target for b/source']);
  });

  it('are known on localnets, too, where a pod of another node has no port here', () => {
    const it = setUp();
    const onLan = { machine: 'vm', role: 'secondary', selects: 'lan', ips: { 'b/lan': '10.0.0.3/24' } };
    it.put('b/source', { ...onLan, second: 1 });
    it.put('b/target', { ...onLan, second: 2, node: 'node2' });
    expect(it.facts.get('pod', 'b/source')?.standby).toBeUndefined();
    it.put('b/target', { ...onLan, second: 2, node: 'node2', isMigrated: true });
    expect(it.facts.get('pod', 'b/source')?.standby).toEqual(new Map([['b/lan', 'b/target']]));
    it.put('b/stranger', { ...onLan, machine: 'other', second: 3 });
    expect(it.refused('b/stranger')[0]?.[1]).toMatch(/belongs to pod b\/(source|target)/);
  });

  it('are two ports: one key is refused', () => {
    const it = setUp();
    it.put('b/source', source);
    it.put('b/target', { ...target, tunnelId: 17 });
    expect(it.refused('b/target')).toEqual([['b/net', 'port key 17 on network b/net belongs to pod b/source']]);
  });

  it.each([
    ['source, before the move', 'b/source', false],
    ['source, after it', 'b/source', true],
    ['target, before the move', 'b/target', false],
    ['target, after it', 'b/target', true],
  ])(
    'have one open port, before and after a restart, when somebody edits the label of the %s',
    (_, edited, isMigrated) => {
      const both: Record<string, object> = { 'b/source': source, 'b/target': { ...target, isMigrated } };
      const open = (it: ReturnType<typeof setUp>) =>
        Object.keys(both).filter((key) => {
          const fact = it.facts.get('pod', key);
          return fact?.networks.has('b/net') === true && fact.standby?.has('b/net') !== true;
        });
      const [running, restarted] = [setUp(), setUp()];
      for (const [key, input] of Object.entries(both)) running.put(key, input);
      const changed = { ...both, [edited]: { ...both[edited], machine: 'other' } };
      running.put(edited, changed[edited]);
      for (const [key, input] of Object.entries(changed)) restarted.put(key, input);
      expect([open(running), open(restarted)]).toEqual([['b/source'], ['b/source']]);
      expect(running.refused('b/target')).toEqual(restarted.refused('b/target'));
      for (const [key, input] of Object.entries(both)) running.put(key, input);
      expect(open(running)).toEqual([isMigrated ? 'b/target' : 'b/source']);
    },
  );

  it('leave the machine with the one that has a port', () => {
    const it = setUp();
    const mac = '02:00:00:00:00:01';
    it.put('b/source', source);
    it.put('b/target', { ...target, mac, isMigrated: true });
    expect(standby(it)).toEqual(['b/source for b/target']);
    it.put('b/other', { mac, ips: { 'b/net': '10.0.0.9/24' }, tunnelId: 16, second: 0 });
    expect([standby(it), it.networks('b/target')]).toEqual([[], []]);
    it.put('b/other', undefined);
    expect(standby(it)).toEqual(['b/source for b/target']);
  });

  it('leave it with one whose annotation gives it the port, as an agent that restarts would', () => {
    const it = setUp();
    it.put('b/source', source);
    it.put('b/target', { ...target, isMigrated: true });
    it.put('b/target', { ...target, isMigrated: true, ips: { 'b/net': '10.0.0.1/24' } });
    expect(standby(it)).toEqual(['b/target for b/source']);
  });

  it('are eight at most: the others are refused, and cost no more than that', () => {
    const it = setUp();
    const before = performance.now();
    const put = (at: number): void => it.put(`b/p${at}`, { ...machine, tunnelId: 100 + at, second: at % 10 });
    for (let at = 0; at < 200; at += 1) put(at);
    const given = [...Array(200).keys()].filter((at) => it.networks(`b/p${at}`).length > 0);
    expect(given).toHaveLength(8);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it.each([
    ['another machine', { ...machine, machine: 'other' }],
    ['another machine with the same host name', { ...machine, createdBy: 'another' }],
    ['none', { ips: machine.ips }],
  ])('are told from pods of %s', (_, other) => {
    const it = setUp();
    it.put('b/source', { ...machine, tunnelId: 17, second: 1 });
    it.put('b/target', { ...other, tunnelId: 18, second: 2 });
    expect(it.refused('b/target')[0]?.[1]).toMatch(/belongs to pod b\/source/);
  });
});

it.each([
  ['MAC', { mac: '0a:58:00:00:00:01' }, /^MAC 0a:58:00:00:00:01 on network b\/net belongs to pod b\/a$/],
  ['port key', { tunnelId: 17 }, /^port key 17 on network b\/net belongs to pod b\/a$/],
])('no two pods have one %s', (_, same, message) => {
  const it = setUp();
  it.put('b/a', { ips: { 'b/net': '10.0.0.3/24' }, ...same });
  it.put('b/b', { ips: { 'b/net': '10.0.0.4/24' }, ...same });
  expect(it.refused('b/b')).toEqual([['b/net', expect.stringMatching(message)]]);
});

it('a pod that takes the name of another one is as new as it is', () => {
  const it = setUp();
  it.put('a/a', { ips: SAME });
  it.put('b/b', { ips: SAME });
  it.put('a/a', { uid: 'another', second: 5, ips: SAME });
  expect([it.networks('a/a'), it.networks('b/b')]).toEqual([[], ['default']]);
});

it('of mirrors of one static pod the older one is it', () => {
  const it = setUp();
  const staticUid = '0123456789abcdef0123456789abcdef';
  it.put('b/thief', { second: 2, hostNetwork: true, staticUid });
  it.put('a/a', { second: 1, hostNetwork: true, staticUid });
  const uids = () => ['a/a', 'b/thief'].map((key) => it.facts.get('pod', key)?.runtimeUid);
  expect(uids()).toEqual([staticUid, 'uid-b/thief']);
  it.put('a/a', undefined);
  expect(uids()).toEqual([undefined, staticUid]);
});

describe('a pod whose annotation has what is no pod’s', () => {
  it('gets nothing but an event, until the annotation is another one', () => {
    const it = setUp();
    it.put('a/a', { ips: { default: '10.128.0.1/23' } });
    expect(it.facts.get('pod', 'a/a')).toMatchObject({
      networks: new Map(),
      barred: expect.stringContaining('10.128.0.1 is the gateway of 10.128.0.0/23'),
    });
    it.put('a/a', { ips: SAME });
    expect([it.networks('a/a'), it.facts.get('pod', 'a/a')?.barred]).toEqual([['default'], undefined]);
  });

  it('keeps what it runs with', () => {
    const it = setUp();
    it.put('a/a', { ips: SAME });
    it.put('a/a', { ips: { default: '10.128.0.1/23' } });
    const fact = it.facts.get('pod', 'a/a');
    expect(fact?.networks.get('default')?.ipAddresses).toEqual(['10.128.0.3/23']);
    expect([fact?.barred, fact?.lost, [...(fact?.refused?.keys() ?? [])]]).toEqual([
      undefined,
      new Set(['default']),
      ['default'],
    ]);
  });

  it('keeps nobody from an address by naming it first', () => {
    const it = setUp();
    it.put('a/thief', { second: 0, ips: { 'b/net': '10.0.0.3/24', 'c/own': '10.0.0.3/24' } });
    it.put('a/other', { second: 0, ips: { default: '10.128.0.1/23', 'a/shared': '10.0.0.3/24' } });
    it.put('b/b', { second: 1, ips: { 'b/net': '10.0.0.3/24' } });
    it.put('b/c', { second: 1, ips: { 'b/shared': '10.0.0.3/24' } });
    expect([it.networks('b/b'), it.networks('b/c'), it.networks('a/thief')]).toEqual([['b/net'], ['b/shared'], []]);
  });

  it('is evaluated again when the network, the namespace or the node’s subnet comes', () => {
    const it = setUp();
    it.cluster.facts.set('nodeSubnets', 'node1/default', undefined);
    it.put('a/a', { ips: SAME });
    expect(it.networks('a/a')).toEqual([]);
    it.cluster.subnets('node1', 'default', ['10.128.0.0/23']);
    expect(it.networks('a/a')).toEqual(['default']);
    it.put('d/d', { ips: { default: '10.128.0.9/23' } });
    expect(it.networks('d/d')).toEqual([]);
    it.cluster.namespace('d');
    expect(it.facts.get('pod', 'd/d')?.networks.get('default')?.role).toBe('primary');
    it.put('d/d', undefined);
    it.cluster.namespace('d', true);
    expect(it.facts.get('pod', 'd/d')).toBeUndefined();
  });
});

describe('a pod whose port has the name of infrastructure', () => {
  it('gets none, also while it runs, from the moment that the other is there', () => {
    const it = setUp();
    it.put('a/tstor-node1', { ips: SAME });
    expect(it.networks('a/tstor-node1')).toEqual(['default']);
    it.cluster.facts.set('networkPrefix', 'a_', 'a');
    expect(it.facts.get('pod', 'a/tstor-node1')).toMatchObject({
      networks: new Map(),
      barred: expect.stringMatching(
        /^its port name a_tstor-node1 belongs to the port of network a .*; rename the pod$/,
      ),
    });
    it.cluster.facts.set('networkPrefix', 'a_', undefined);
    expect(it.networks('a/tstor-node1')).toEqual(['default']);
  });
});
