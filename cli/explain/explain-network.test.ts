import { describe, expect, it } from 'vitest';
import { explain } from '../commands/explain.ts';
import { CliError } from '../errors.ts';
import { memoryTables } from './testing/memory-tables.ts';
import { INTERFACE, node, sources } from './testing/red-pod.ts';

describe('explain network', () => {
  const desired = [
    { backend: 'host' as const, key: 'route 100001 0.0.0.0/0 0', owners: ['vrf:n1/red_red'], network: 'red_red' },
    { backend: 'host' as const, key: 'route 100001 ::/0 0', owners: ['vrf:n1/red_red'], network: 'red_red' },
    { backend: 'host' as const, key: 'link other', owners: ['vrf:n1/blue'], network: 'blue' },
  ];
  const management = {
    ...INTERFACE,
    name: 'ovn-k8s-mp1',
    external_ids: [
      'map',
      [
        ['iface-id', 'k8s-red_red_n1'],
        ['ovn-installed', 'true'],
      ],
    ],
  };
  const ofNetwork = async (kind?: 'missing', lacking: readonly string[] = []) => {
    const { agent } = sources();
    const differences = kind === undefined ? [] : [{ ...desired[0], kind } as never];
    const unsupported = lacking.map((key) => ({ ...desired[0], key, message: 'this kernel has no VRF' }) as never);
    const { data, lines, exitStatus } = await explain(
      sources({
        openvswitch: memoryTables({ Interface: [management] }),
        agent: {
          ...agent,
          desired: () => Promise.resolve(desired),
          differences: () => Promise.resolve({ differences, unreadable: [], unsupported }),
        },
      }),
      'network',
      'red/red',
    );
    return { exitStatus, lines, checks: (data as { checks: { what: string; state: string; found: string }[] }).checks };
  };

  it('counts what is as desired, by place and kind', async () => {
    const { checks, exitStatus } = await ofNetwork();
    expect(exitStatus).toBe(0);
    expect(checks).toContainEqual({ what: 'host route', state: 'ok', found: '2 as desired' });
    expect(checks).toContainEqual({ what: 'management port', state: 'ok', found: 'ovn-k8s-mp1, ofport 2, up' });
    expect(checks.map(({ what }) => what)).not.toContain('host link');
  });

  it('names what is missing', async () => {
    const { checks, exitStatus } = await ofNetwork('missing');
    expect(exitStatus).toBe(1);
    expect(checks.find(({ what }) => what === 'host route')).toMatchObject({
      state: 'missing',
      found: 'route 100001 0.0.0.0/0 0 is missing',
    });
  });

  it('says what this machine cannot have, and does not call it there', async () => {
    const all = await ofNetwork(undefined, ['route 100001 0.0.0.0/0 0', 'route 100001 ::/0 0']);
    expect(all.exitStatus).toBe(0);
    expect(all.lines[0]).toBe(
      'network red_red on n1: nothing is missing, but the lines with a ? could not be checked or are not supported',
    );
    const found = '2 not supported: this kernel has no VRF';
    expect(all.checks).toContainEqual({ what: 'host route', state: 'unknown', found });
    const { checks } = await ofNetwork(undefined, ['route 100001 ::/0 0']);
    expect(checks.find(({ what }) => what === 'host route')?.found).toBe(
      '1 as desired, 1 not supported: this kernel has no VRF',
    );
  });

  it('counts its flows of the gateway bridge', async () => {
    const patch = 'patch-br-ex_red_red_n1-to-br-int';
    const gateway = { mode: 'shared' as const, bridge: 'br-ex', mac: '02:00:00:00:00:01', addresses: [], nextHops: [] };
    const ports = `  br-ex:\n    ${patch} 2/none: (patch: peer=other)\n`;
    const { agent } = sources();
    const of = async (flows: string) => {
      const { data } = await explain(
        sources({
          agent: { ...agent, node: () => Promise.resolve({ ...node, gateway }) },
          openvswitch: memoryTables({
            Interface: [management, { ...INTERFACE, name: patch, external_ids: ['map', []] }],
          }),
          runner: { run: ({ file }) => Promise.resolve({ stdout: file === 'ovs-appctl' ? ports : flows, stderr: '' }) },
        }),
        'network',
        'red/red',
      );
      return (data as { checks: { what: string; state: string; found: string }[] }).checks.slice(-2);
    };
    const flow = ` cookie=0xdeff105, duration=1s, table=0, n_packets=4, n_bytes=1, priority=90,in_port=2 actions=drop`;
    expect(await of(flow)).toEqual([
      { what: 'patch port', state: 'ok', found: `${patch}, ofport 2, up` },
      { what: 'gateway flows', state: 'ok', found: '1 on br-ex, 4 packets: udnctl flows --network red_red' },
    ]);
    expect((await of(''))[1]).toMatchObject({ state: 'missing', found: 'br-ex has none for it' });
  });

  it('a silent agent is what is to be checked', async () => {
    const silent = () =>
      Promise.reject(new CliError('the agent has not answered for 10 s: it is stopped or overloaded'));
    const { data } = await explain(
      { ...sources(), agent: { ...sources().agent, networks: silent } },
      'network',
      'red_red',
    );
    expect(data).toMatchObject({
      checks: [{ what: 'agent', state: 'missing', next: 'check the process and the log of udn-agent on this node' }],
    });
  });

  it('an unknown network is said to be unknown', () =>
    expect(explain(sources(), 'network', 'nothing')).rejects.toThrow('this node does not know network "nothing"'));
});
