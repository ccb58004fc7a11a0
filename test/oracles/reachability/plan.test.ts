import { describe, expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { planProbes } from './plan.ts';
import { attachment, blueA, PODS, plainA, pod, redA, redB } from './testing.ts';

const between = (from: { key: string }, to: { key: string }, probes = planProbes(PODS, 'run')) =>
  probes.filter((probe) => probe.from === from.key && probe.to === to.key);

describe('planProbes', () => {
  it('covers every ordered pair, every address of the second, with every protocol', () => {
    const probes = planProbes(PODS, 'run');
    const pairs = new Set(probes.map(({ from, to }) => `${from} ${to}`));
    expect(pairs.size).toBe(PODS.length * (PODS.length - 1));
    // 5 senders for each of 6 pods: one address of 2, two of 4, three protocols.
    expect(probes).toHaveLength(5 * (2 * 1 + 4 * 2) * 3);
    expect(new Set(between(redA, redB).map(({ protocol, address }) => `${protocol} ${address}`)).size).toBe(6);
  });

  it('covers both families', () => {
    const dual = ['a', 'b'].map((name, index) =>
      pod(`n/${name}`, 'node-1', attachment('default', [`10.0.0.${index}`, `fd00::${index + 1}`], 'primary')),
    );
    expect(
      planProbes(dual, 'run').map(({ from, family, protocol, address }) => [from, family, protocol, address]),
    ).toEqual([
      ['n/a', 4, 'icmp', '10.0.0.1'],
      ['n/a', 4, 'tcp', '10.0.0.1'],
      ['n/a', 4, 'udp', '10.0.0.1'],
      ['n/a', 6, 'icmp', 'fd00::2'],
      ['n/a', 6, 'tcp', 'fd00::2'],
      ['n/a', 6, 'udp', 'fd00::2'],
      ['n/b', 4, 'icmp', '10.0.0.0'],
      ['n/b', 4, 'tcp', '10.0.0.0'],
      ['n/b', 4, 'udp', '10.0.0.0'],
      ['n/b', 6, 'icmp', 'fd00::1'],
      ['n/b', 6, 'tcp', 'fd00::1'],
      ['n/b', 6, 'udp', 'fd00::1'],
    ]);
  });

  it.each([
    [redA, redB, 'primary', true],
    [redA, redB, 'infrastructure-locked', false],
    [redA, blueA, 'primary', false],
    [redA, blueA, 'infrastructure-locked', false],
    [plainA, redA, 'primary', false],
    [plainA, redA, 'infrastructure-locked', false],
    [redA, plainA, 'primary', false],
  ] as const)('$0.key to $1.key at its $2 address: $3', (from, to, role, expected) => {
    const probes = between(from, to).filter((probe) => probe.role === role);
    expect(probes).toHaveLength(3);
    expect(probes.map((probe) => probe.expected)).toEqual([expected, expected, expected]);
  });

  it('names both networks: the sender’s own, and that of the address', () => {
    const [primary, , , locked] = between(plainA, redA);
    expect(primary).toMatchObject({ address: parseIp('10.100.0.3'), network: { from: 'default', to: 'red_red' } });
    expect(locked).toMatchObject({ address: parseIp('10.128.0.3'), network: { from: 'default', to: 'default' } });
  });

  it('gives every probe a nonce of its own, different in every run', () => {
    const nonces = ['one', 'two'].flatMap((run) => planProbes(PODS, run).map(({ nonce }) => nonce));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('refuses pods whose answers would look the same', () => {
    const twin = { ...blueA, hostname: redA.hostname };
    expect(() => planProbes([redA, twin], 'run')).toThrow(/red\/red-a and blue\/blue-a have the same hostname/);
  });
});
