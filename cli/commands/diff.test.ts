import { describe, expect, it } from 'vitest';
import type { DifferenceStatus, DifferencesStatus, NetworkStatus } from '../../api/agent-status.ts';
import { diff } from './diff.ts';

const network = (name: string, nads: readonly string[] = []): NetworkStatus => ({
  name,
  id: 1,
  nads: [...nads],
  topology: 'layer3',
  role: 'primary',
  mtu: 1400,
  subnets: [],
  nodeSubnets: [],
  pods: 0,
  state: 'ready',
});

const DIFFERENCES: readonly DifferenceStatus[] = [
  { backend: 'host', key: 'route 100001 0.0.0.0/0 0', kind: 'missing', owners: ['vrf:n1/red_net'], network: 'red_net' },
  {
    backend: 'northbound',
    key: 'Logical_Switch/s',
    kind: 'different',
    owners: ['layer3:red_net'],
    network: 'red_net',
    wanted: '{"other_config":{"subnet":"10.0.0.0/24"}}',
    actual: '{"other_config":{}}',
  },
  { backend: 'openflow', key: 'flow br-ex 0 9', kind: 'unwanted', owners: [], actual: 'priority=9 actions=drop' },
  {
    backend: 'nftables',
    key: 'chain no-pmtud',
    kind: 'different',
    owners: ['host-nftables:'],
    wanted: 'type filter\ndrop',
    actual: 'type filter',
  },
  { backend: 'host', key: 'link old', kind: 'unwanted', owners: [], network: 'gone_net' },
];

const agent = (differences: readonly DifferenceStatus[], more: Partial<DifferencesStatus> = {}) => ({
  networks: () => Promise.resolve([network('red_net', ['red/net'])]),
  differences: () => Promise.resolve({ differences: [...differences], unreadable: [], unsupported: [], ...more }),
});

const unsupported = (key: string, name: string) =>
  ({ backend: 'host', key, network: name, message: 'this kernel has no VRF' }) as const;

describe('diff', () => {
  it('reads like a diff, by network and place', async () => {
    const { lines, exitStatus } = await diff(agent(DIFFERENCES), {});
    expect(exitStatus).toBe(1);
    expect(lines).toEqual([
      'of no network',
      '  openflow',
      '    - flow br-ex 0 9',
      '        - priority=9 actions=drop',
      '  nftables',
      '    ~ chain no-pmtud  (host-nftables:)',
      '        - type filter',
      '        + type filter',
      '        + drop',
      'network gone_net',
      '  host',
      '    - link old',
      'network red_net',
      '  northbound',
      '    ~ Logical_Switch/s  (layer3:red_net)',
      '        - {"other_config":{}}',
      '        + {"other_config":{"subnet":"10.0.0.0/24"}}',
      '  host',
      '    + route 100001 0.0.0.0/0 0  (vrf:n1/red_net)',
    ]);
  });

  it('of one network, by the key of its NAD, also of one that is gone', async () => {
    const of = async (name: string) => (await diff(agent(DIFFERENCES), { network: name })).lines[0];
    expect(await of('red/net')).toBe('network red_net');
    expect(await of('gone_net')).toBe('network gone_net');
    await expect(of('nothing')).rejects.toThrow('this node does not know network "nothing"');
  });

  it('exits with 0 when nothing differs', async () => {
    expect(await diff(agent([]), {})).toMatchObject({ lines: ['no difference'], exitStatus: 0 });
  });

  it('says what this machine cannot have, which is no difference', async () => {
    const lacking = [
      unsupported('link a', 'red_net'),
      unsupported('rule b', 'red_net'),
      unsupported('rule c', 'b_net'),
    ];
    expect(await diff(agent([], { unsupported: lacking }), {})).toMatchObject({
      lines: ['no difference', '? not supported: this kernel has no VRF: 1 host link, 2 host rule of b_net, red_net'],
      exitStatus: 0,
    });
    expect((await diff(agent([], { unsupported: lacking }), { network: 'red_net' })).lines[1]).toBe(
      '? not supported: this kernel has no VRF: 1 host link, 1 host rule of red_net',
    );
  });

  it('says why the agent has not repaired it', async () => {
    const refused: DifferenceStatus = {
      backend: 'nftables',
      key: 'set a',
      kind: 'missing',
      owners: [],
      problem: 'no nft',
    };
    expect((await diff(agent([refused]), {})).lines.slice(-2)).toEqual(['    + set a', '        ! no nft']);
  });

  it('exits with 2 when a place cannot be read, and says so', async () => {
    expect(await diff(agent([], { unreadable: [{ backend: 'nftables', message: 'no nft' }] }), {})).toMatchObject({
      lines: ['! nftables cannot be read, its state is unknown: no nft'],
      exitStatus: 2,
    });
  });
});
