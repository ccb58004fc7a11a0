import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../api/agent-status.ts';
import type { PolicyEndStatus } from '../../api/policy-status.ts';
import { parseIp } from '../../net/ip.ts';
import { both, merged, type Ports } from '../../net/port-regions.ts';
import { memoryTables } from '../explain/testing/memory-tables.ts';
import type { Row } from '../node/wire-values.ts';
import { parseRuleMatch } from './acl-match.ts';
import { portsText } from './let-through.ts';
import { matrixHere, mergedMatrix } from './matrix.ts';
import { matrixOutput } from './matrix-output.ts';
import { readProgrammed } from './programmed.ts';

const tcp = (first: number, last = first): Ports => ({ protocol: 'tcp', first, last });

describe('ports that are let through', () => {
  it.each([
    [[], '-'],
    [[tcp(80)], 'TCP 80'],
    [[tcp(443), tcp(80), tcp(81)], 'TCP 80-81,443'],
    [[tcp(80), { protocol: 'udp', first: 0, last: 65_535 }], 'TCP 80 UDP'],
    [[tcp(80), { first: 0, last: 65_535 }], 'all'],
  ] satisfies [Ports[], string][])('%j: %s', (ports, text) => expect(portsText(merged(ports))).toBe(text));

  it('are those of both ends', () => {
    expect(portsText(both([{ first: 0, last: 65_535 }], [tcp(80)]))).toBe('TCP 80');
    expect(portsText(both([tcp(1, 100)], [tcp(80, 200), { protocol: 'udp', first: 80, last: 80 }]))).toBe('TCP 80-100');
    expect(portsText(both([tcp(80)], [tcp(81)]))).toBe('-');
  });
});

describe('matches of rules', () => {
  it.each([
    ['ip4.src == $peers && ip4.dst == $targets && tcp && tcp.dst == 80', 'TCP 80'],
    ['ip4.dst == $targets', 'all'],
    ['ip6.src == {fd00::/64, fd01::1} && ip6.dst == $targets && udp', 'UDP'],
    [
      'ip4.src == 10.0.0.0/8 && ip4.dst == $t && sctp && (sctp.dst == {80, 81} || 90 <= sctp.dst <= 95)',
      'SCTP 80-81,90-95',
    ],
    ['ip4.src == $p && ip4.dst == $t && tcp && 90 <= tcp.dst <= 95', 'TCP 90-95'],
    ['ip4.dst == {$p, $q} && ip4.src == $t && tcp && tcp.dst == 80', 'TCP 80'],
    ['ip6.dst == {$p, fd00::1, fd00:1::/32} && ip6.src == $t && tcp && tcp.dst == 80', 'TCP 80'],
  ])('%s', (match, text) => expect(portsText(merged(parseRuleMatch(match)?.ports ?? []))).toBe(text));

  it.each([
    'outport == @a',
    'ip4.src == $p && ip6.dst == $t',
    'ip4.dst == $t && tcp.dst == 80',
    'ip4.dst == $t && tcp && udp.dst == 80',
    'ip4.dst == $t && ct.est',
    'ip4.dst == {$p, a-b} && ip4.src == $t',
    '1',
  ])('%s is none', (match) => expect(parseRuleMatch(match)).toBeUndefined());
});

const end = (
  pod: string,
  direction: 'Ingress' | 'Egress',
  peer: string,
  more: Partial<PolicyEndStatus> = {},
): PolicyEndStatus => ({
  ...{ pod, direction, peer, verdict: 'open', message: '', isolatedBy: [], families: [], network: 'red_red' },
  peerAddresses: [peer === 'red/a' ? '10.0.0.3' : '10.0.0.4'],
  ...more,
});
/** red/b is isolated and lets red/a in by TCP 80. */
const ENDS: readonly PolicyEndStatus[] = [
  end('red/a', 'Egress', 'red/b'),
  end('red/a', 'Ingress', 'red/b'),
  end('red/b', 'Egress', 'red/a'),
  end('red/b', 'Ingress', 'red/a', {
    verdict: 'partly',
    families: [
      {
        ...{ family: 4, verdict: 'partly' },
        rules: [{ id: 'r', text: '', policies: ['red/web'], l4: { protocol: 'tcp', ports: [[80, 80]] } }],
      },
    ],
  }),
];
const pod = (name: string, address: string): PodStatus => ({
  ...{ namespace: 'red', name, uid: name, state: 'ready' },
  attachments: [
    {
      ...{ network: 'red_red', nad: 'red/red', role: 'primary', interface: 'ovn-udn1', addresses: [`${address}/24`] },
      ...{ port: `port-${name}`, installed: true },
    },
  ],
});

const uuid = (text: string) => ['uuid', text];
const uuids = (...texts: string[]) => ['set', texts.map(uuid)];
const ROWS: Record<string, readonly Row[]> = {
  Logical_Switch_Port: [
    { _uuid: uuid('pa'), name: 'port-a' },
    { _uuid: uuid('pb'), name: 'port-b' },
  ],
  Port_Group: [{ ports: uuid('pb'), acls: uuids('drop', 'arp') }],
  Logical_Switch: [{ ports: uuids('pa', 'pb'), acls: uuids('rule', 'node') }],
  ACL: [
    { _uuid: uuid('drop'), direction: 'to-lport', action: 'drop', priority: 1000, tier: 2, match: 'outport == @a1' },
    {
      _uuid: uuid('arp'),
      direction: 'to-lport',
      action: 'allow',
      priority: 1001,
      tier: 2,
      match: 'outport == @a1 && (arp || nd)',
    },
    {
      _uuid: uuid('rule'),
      direction: 'to-lport',
      action: 'allow-related',
      priority: 1001,
      tier: 2,
      match: 'ip4.src == $p && ip4.dst == $t && tcp && tcp.dst == 80',
    },
    { _uuid: uuid('node'), direction: 'to-lport', action: 'drop', priority: 1000, tier: 0, match: 'outport == @a2' },
  ],
  Address_Set: [
    { name: 'p', addresses: '10.0.0.3' },
    { name: 't', addresses: ['set', ['10.0.0.4', '10.0.0.5']] },
  ],
};
const matrix = (rows = ROWS, ends = ENDS) =>
  matrixHere(
    {
      agent: {
        policyMatrix: () => Promise.resolve({ pods: ['red/a', 'red/b'], ends: [...ends] }),
        pods: () => Promise.resolve([pod('a', '10.0.0.3'), pod('b', '10.0.0.4')]),
      },
      northbound: memoryTables(rows),
    },
    'red',
  );

describe('policy matrix', () => {
  it('has who may connect to whom, and that the rows say the same', async () =>
    expect(matrixOutput(await matrix())).toMatchObject({
      exitStatus: 0,
      lines: ['FROM \\ TO  a    b', 'a          .    TCP 80', 'b          all  .', 'the rows let through the same'],
    }));

  it.each([
    ['a pod that is in no group', { Port_Group: [] }, 'policies let through TCP 80, rows all'],
    ['a rule that is on no switch', { Logical_Switch: [] }, 'policies let through TCP 80, rows -'],
    ['a peer that is in no set', { Address_Set: [] }, 'policies let through TCP 80, rows -'],
    ['a port that is not there', { Logical_Switch_Port: [ROWS['Logical_Switch_Port']?.[0] ?? {}] }, 'rows no port'],
  ])('shows %s', async (_, rows, text) => {
    const { lines, exitStatus } = matrixOutput(await matrix({ ...ROWS, ...rows }));
    expect(exitStatus).toBe(1);
    expect(lines.find((line) => line.startsWith('! Ingress of red/b, IPv4, red/a'))).toContain(text);
  });

  it('names an ACL that it cannot read, and compares the others', async () => {
    const odd = {
      ...{ _uuid: uuid('odd'), direction: 'to-lport', action: 'drop', priority: 31_000, tier: 1 },
      match: 'ip4.src == $p && ip4.dst == 10.0.0.4-10.0.0.9',
    };
    const rows = {
      ...ROWS,
      Logical_Switch: [{ ports: uuids('pa', 'pb'), acls: uuids('rule', 'node', 'odd') }],
      ACL: [...(ROWS['ACL'] ?? []), odd],
    };
    const { lines, exitStatus } = matrixOutput(await matrix(rows));
    expect(exitStatus).toBe(2);
    expect(lines.slice(3)).toEqual([
      `? the match of an ACL cannot be read, and it was left out: ACL odd (tier 1, priority 31000): ${odd.match}`,
    ]);
    const { differences } = await matrix({ ...rows, Port_Group: [] });
    expect(differences).toHaveLength(1);
  });

  it('is not sure of what a daemon does not follow, and says so once', async () => {
    const notProgrammed = 'ovn-northd has stopped';
    const { lines, exitStatus } = matrixOutput(
      await matrix(
        ROWS,
        ENDS.map((one) => ({ ...one, notProgrammed })),
      ),
    );
    expect(exitStatus).toBe(2);
    expect(lines.slice(3)).toEqual([`? packets of red/a and 1 more may fare differently: ${notProgrammed}`]);
  });

  it('is of the network that is asked about, and of an agent that knows such matrices', async () => {
    const flat = {
      ...{ network: 'flat', nad: 'red/flat', role: 'secondary', interface: 'net1', addresses: ['10.9.0.4/24'] },
      ...{ port: 'flat-b', installed: true },
    } as const;
    const asked: unknown[] = [];
    const here = (network: string | undefined) =>
      matrixHere(
        {
          agent: {
            policyMatrix: (...question) => {
              asked.push(question);
              return Promise.resolve({ pods: ['red/b'], ends: [], ...(network !== undefined && { network }) });
            },
            pods: () => Promise.resolve([{ ...pod('b', '10.0.0.4'), attachments: [flat] }]),
          },
          northbound: memoryTables(ROWS),
        },
        'red',
        'flat',
      );
    expect(await here('flat')).toMatchObject({ pods: ['red/b'], addresses: { 'red/b': ['10.9.0.4'] } });
    expect(asked).toEqual([['red', 'flat']]);
    await expect(here(undefined)).rejects.toThrow('the agent is older, and knows matrices of own networks only');
  });

  it('does not say "allowed" for ends of nodes that were not asked', async () => {
    const { lines, exitStatus } = matrixOutput(
      mergedMatrix(
        [
          await matrix(
            ROWS,
            ENDS.filter((one) => one.pod === 'red/b'),
          ),
        ],
        ['node n2 cannot be asked'],
      ),
    );
    expect(lines).toEqual(['FROM \\ TO  a  b', 'a          .  ?', 'b          ?  .', '? node n2 cannot be asked']);
    expect(exitStatus).toBe(2);
  });
});

describe('rows of administrators’ policies', () => {
  const acl = (name: string, tier: number, priority: number, action: string, match: string): Row => ({
    ...{ _uuid: uuid(name), direction: 'to-lport', action, priority, tier, match },
  });
  const FROM_A = 'ip4.src == $p && ip4.dst == $t';
  /** What comes to red/b from red/a, whom the network policy lets in by TCP 80. */
  const programmed = async (acls: readonly Row[], isIsolated = true) => {
    const rows = {
      ...ROWS,
      ...(!isIsolated && { Port_Group: [] }),
      Logical_Switch: [
        { ports: uuids('pa', 'pb'), acls: uuids('rule', ...acls.map((row) => String((row['_uuid'] as string[])[1]))) },
      ],
      ACL: [...(ROWS['ACL'] ?? []), ...acls],
    };
    const { lets } = await readProgrammed(memoryTables(rows));
    return portsText(lets('Ingress', 'port-b', { own: parseIp('10.0.0.4'), peer: parseIp('10.0.0.3') }) ?? []);
  };

  it.each([
    ['a denial', [acl('d', 1, 31_000, 'drop', FROM_A)], true, '-'],
    [
      'an allowance above it',
      [acl('d', 1, 31_000, 'drop', FROM_A), acl('a', 1, 31_001, 'allow-related', `${FROM_A} && udp`)],
      true,
      'UDP',
    ],
    [
      'a pass above it',
      [acl('d', 1, 31_000, 'drop', FROM_A), acl('p', 1, 31_001, 'pass', `${FROM_A} && tcp`)],
      true,
      'TCP 80',
    ],
    ['a baseline', [acl('b', 3, 31_000, 'drop', `${FROM_A} && udp && udp.dst == 53`)], false, 'all but UDP 53'],
    ['a baseline of an isolated pod', [acl('b', 3, 31_000, 'allow-related', FROM_A)], true, 'TCP 80'],
    [
      'a pass of a tier above the baseline',
      [acl('b', 3, 31_000, 'drop', FROM_A), acl('p', 2, 1, 'pass', 'ip4.dst == $t')],
      false,
      'TCP 80',
    ],
    ['another peer', [acl('d', 1, 31_000, 'drop', 'ip4.src == 10.0.0.9 && ip4.dst == $t')], true, 'TCP 80'],
  ])('let through, with %s', async (_, acls, isIsolated, text) =>
    expect(await programmed(acls, isIsolated)).toBe(text),
  );
});
