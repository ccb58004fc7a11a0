import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../../api/agent-status.ts';
import type { PolicyEndStatus } from '../../../api/policy-status.ts';
import type { PolicyMatrix } from '../matrix.ts';
import { matrixOutput } from '../matrix-output.ts';
import { type Probed, probeHere, type Targets } from './connect.ts';
import { planProbes } from './plan.ts';
import { probeMatrix } from './probe.ts';

const ADDRESSES: Record<string, string[]> = { 'red/a': ['10.0.0.3', 'fd00::3'], 'red/b': ['10.0.0.4', 'fd00::4'] };

/** @param lets TCP ports; absent: all */
const end = (
  pod: string,
  direction: 'Ingress' | 'Egress',
  peer: string,
  lets?: readonly number[],
): PolicyEndStatus => ({
  ...{ pod, direction, peer, message: '', isolatedBy: [], network: 'red_red', peerAddresses: ADDRESSES[peer] ?? [] },
  verdict: lets === undefined ? 'open' : 'partly',
  families: ([4, 6] as const).map((family) => ({
    ...{ family, verdict: 'partly' as const, rules: [] },
    lets: (lets ?? []).map((port) => ({ protocol: 'tcp' as const, first: port, last: port })),
  })),
});

/** red/b lets red/a in by TCP 80 alone. */
const MATRIX: PolicyMatrix = {
  pods: ['red/a', 'red/b'],
  ends: [
    end('red/a', 'Egress', 'red/b'),
    end('red/b', 'Ingress', 'red/a', [80]),
    end('red/b', 'Egress', 'red/a'),
    end('red/a', 'Ingress', 'red/b'),
  ],
  ...{ differences: [], addresses: ADDRESSES, unknown: [] },
};

const outcomes =
  (outcomeOf: (from: string, address: string, port: number, round: number) => string) =>
  (rounds: Targets[]) =>
  (targets: Targets): Promise<Probed> => {
    rounds.push(targets);
    const results = ['red/a', 'red/b'].flatMap((from) =>
      targets.addresses
        .filter((address) => !ADDRESSES[from]?.includes(address))
        .flatMap((address) =>
          targets.ports.map((port) => ({
            from,
            address,
            port,
            outcome: outcomeOf(from, address, port, rounds.length),
          })),
        ),
    );
    return Promise.resolve({ results, unknown: [] });
  };

const asPoliciesSay = (from: string, port: number): string => {
  if (from === 'red/b') return 'refused';
  return port === 80 ? 'connected' : 'timed out';
};

describe('what is probed', () => {
  it('is a port that is allowed and one that is not, of each set that some pair has', () => {
    const { ports, probes } = planProbes(MATRIX);
    expect(ports).toEqual([80, 40_404]);
    expect(
      probes.map(({ from, to, family, port, isAllowed }) => `${from} ${to} ${family} ${port} ${isAllowed}`),
    ).toEqual([
      ...['red/a red/b 4 80 true', 'red/a red/b 4 40404 false', 'red/a red/b 6 80 true', 'red/a red/b 6 40404 false'],
      ...['red/b red/a 4 80 true', 'red/b red/a 4 40404 true', 'red/b red/a 6 80 true', 'red/b red/a 6 40404 true'],
    ]);
  });

  it('is one usual port where all is denied', () => {
    const { ports, probes } = planProbes({ ...MATRIX, ends: MATRIX.ends.map((one) => ({ ...one, ...DENIED })) });
    expect([ports, probes.filter(({ isAllowed }) => isAllowed)]).toEqual([[40_404], []]);
  });

  it('is nothing of what is not known, or has no address of the family', () => {
    const addresses = { 'red/a': ['10.0.0.3', 'fd00::3'], 'red/b': ['10.0.0.4'] };
    const ends = MATRIX.ends.filter(({ pod, direction }) => pod === 'red/a' || direction === 'Ingress');
    const { probes } = planProbes({ ...MATRIX, addresses, ends });
    expect(new Set(probes.map(({ from, to, family }) => `${from} ${to} ${family}`))).toEqual(
      new Set(['red/a red/b 4']),
    );
  });

  it('is not more than a node can be asked for', () => {
    const pods = Array.from({ length: 31 }, (_, index) => `red/p${index}`);
    expect(() => planProbes({ ...MATRIX, pods })).toThrow('31 are more than 30');
  });
});

const DENIED: Pick<PolicyEndStatus, 'verdict' | 'families'> = { verdict: 'denied', families: [] };

describe('what packets have shown', () => {
  it('is what policies say', async () => {
    const rounds: Targets[] = [];
    const send = outcomes((from, _, port) => asPoliciesSay(from, port))(rounds);
    const { lines, exitStatus } = matrixOutput(MATRIX, await probeMatrix(MATRIX, send));
    expect([lines.at(-1), exitStatus]).toEqual(['packets to TCP 80, 40404 fared the same, in 8 connections', 0]);
    expect(rounds).toEqual([{ addresses: ['10.0.0.4', 'fd00::4', '10.0.0.3', 'fd00::3'], ports: [80, 40_404] }]);
  });

  it('is a finding where something denied arrives, and where something allowed does not twice', async () => {
    const rounds: Targets[] = [];
    const send = outcomes((from, address, port, round) => {
      if (from === 'red/a' && address === '10.0.0.4' && port === 40_404) return 'refused';
      if (from === 'red/b' && address === '10.0.0.3') return 'EHOSTUNREACH';
      if (from === 'red/b' && round === 1) return 'timed out';
      return asPoliciesSay(from, port);
    })(rounds);
    const { lines, exitStatus, data } = matrixOutput(MATRIX, await probeMatrix(MATRIX, send));
    expect(lines.filter((line) => line.startsWith('!'))).toEqual([
      '! red/a to red/b, IPv4, TCP 40404: policies deny it, packets: refused',
      '! red/b to red/a, IPv4, TCP 80: policies allow it, packets: EHOSTUNREACH',
      '! red/b to red/a, IPv4, TCP 40404: policies allow it, packets: EHOSTUNREACH',
    ]);
    expect(exitStatus).toBe(1);
    expect(data).toMatchObject({ probes: { compared: 8, differences: [{}, {}, {}] } });
    expect(rounds[1]).toEqual({ addresses: ['10.0.0.3', 'fd00::3'], ports: [80, 40_404] });
  });

  it('is not known of a pod that nothing could be sent from', async () => {
    const send = async (targets: Targets): Promise<Probed> => {
      const { results } = await outcomes((from, _, port) => asPoliciesSay(from, port))([])(targets);
      return { results: results.filter(({ from }) => from === 'red/a'), unknown: [] };
    };
    const { lines, exitStatus } = matrixOutput(MATRIX, await probeMatrix(MATRIX, send));
    expect(lines).toContain('? nothing was sent from red/b');
    expect(exitStatus).toBe(2);
  });
});

it('is sent from the network namespace of each pod here, to all but its own addresses', async () => {
  const pod = (name: string): PodStatus => ({
    ...{ namespace: 'red', name, uid: name, state: 'ready' },
    attachments: [
      {
        ...{ network: 'red_red', nad: 'red/red', role: 'primary', interface: 'ovn-udn1', port: name, installed: true },
        addresses: (ADDRESSES[`red/${name}`] ?? []).map((ip) => `${ip}/24`),
      },
    ],
  });
  const sent: unknown[] = [];
  const probed = await probeHere(
    {
      pods: [pod('a'), pod('b'), { ...pod('a'), namespace: 'blue' }],
      netns: { pathOf: ({ name }) => (name === 'a' ? '/run/netns/a' : undefined) },
      runner: {
        run: ({ file, args, input }) => {
          sent.push([file, args.slice(0, 2), input]);
          return Promise.resolve({ stdout: '[{"address":"10.0.0.4","port":80,"outcome":"refused"}]', stderr: '' });
        },
      },
    },
    'red',
    { addresses: ['10.0.0.3', '10.0.0.4'], ports: [80] },
  );
  expect(sent).toEqual([['nsenter', ['--net=/run/netns/a', '--'], '[{"address":"10.0.0.4","port":80}]']]);
  expect(probed).toEqual({
    results: [{ from: 'red/a', address: '10.0.0.4', port: 80, outcome: 'refused' }],
    unknown: ['nothing could be sent from red/b: its network namespace was not found'],
  });
});
