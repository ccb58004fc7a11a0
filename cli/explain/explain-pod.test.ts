import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../api/agent-status.ts';
import { explain } from '../commands/explain.ts';
import type { ExplainSources } from './sources.ts';
import { memoryTables } from './testing/memory-tables.ts';
import { attachment, INTERFACE, network, of, pod, STANDBY, silent, sources, VSWITCH } from './testing/red-pod.ts';

describe('explain pod', () => {
  it('is content with a pod that has all', async () => {
    const { lines, exitStatus, missing } = await of();
    expect(missing).toEqual([]);
    expect(exitStatus).toBe(0);
    expect(lines[0]).toBe('pod red/a: everything is in place');
    expect(lines.at(-1)).toMatch(/flows of br-int +1 of this port \(cookie 0xa1b2c3d\), 4 packets received from it$/);
  });

  it('of an attachment without IPAM compares no addresses', async () => {
    const bare = { ...attachment, role: 'secondary', addresses: [] };
    const { missing, checks } = await of({
      agent: {
        ...sources().agent,
        networks: () => Promise.resolve([{ ...network, topology: 'layer2' as const, subnets: [], nodeSubnets: [] }]),
        pods: () => Promise.resolve([{ ...pod, attachments: [bare] }]),
      },
    });
    expect(missing).toEqual([]);
    expect(checks.map(({ found }) => found)).toContain('ovn-udn1 without addresses (no IPAM) 0a:58:0a:64:00:03');
  });

  it('after an ADD that failed names its cause first, and what to look at where none has failed', async () => {
    const { hostInterface: _, ...unplugged } = attachment;
    const message = 'it has no port: CNI ADD failed: no such device';
    const failed: PodStatus = { ...pod, state: 'pending', message, attachments: [{ ...unplugged, installed: false }] };
    const { lines, exitStatus, missing } = await of({
      agent: { ...sources().agent, pods: () => Promise.resolve([failed]) },
    });
    expect([lines[0], exitStatus]).toEqual([`pod red/a: agent: ${message}`, 1]);
    expect(missing).toEqual([
      { what: 'agent', state: 'missing', found: message, next: 'see udnctl problems' },
      {
        ...{ what: 'red_red: OVS interface', state: 'missing', found: 'the port has no OVS interface' },
        next: 'kubectl describe pod; without a CNI call that failed, see the log of the kubelet and the container runtime',
      },
    ]);
  });

  it('says why nobody finds in the API what the pod is attached to', async () => {
    const unreported = 'k8s.v1.cni.cncf.io/network-status cannot be written: denied';
    const { missing } = await of({
      agent: { ...sources().agent, pods: () => Promise.resolve([{ ...pod, unreported }]) },
    });
    expect(missing).toEqual([
      { what: 'network-status', state: 'missing', found: unreported, next: 'see udnctl problems' },
    ]);
  });

  it('says which ports of the node are not open, of this pod', async () => {
    const problem = { severity: 'warning', cause: 'host-port-refused', message: 'TCP port 80 is not open' } as const;
    const problems = ['Pod/red/a', 'Pod/red/b'].map((object) => ({ ...problem, object }));
    const { missing } = await of({ agent: { ...sources().agent, problems: () => Promise.resolve(problems) } });
    expect(missing).toEqual([
      { what: 'hostPort', state: 'missing', found: 'TCP port 80 is not open', next: 'see udnctl problems' },
    ]);
  });

  it('says what the pod asks for in vain', async () => {
    const message = 'k8s.v1.cni.cncf.io/networks: red/storage: cni-args has no effect';
    const { lines, exitStatus } = await of({
      agent: { ...sources().agent, pods: () => Promise.resolve([{ ...pod, ignored: [message] }]) },
    });
    expect(exitStatus).toBe(0);
    expect(lines[0]).toBe(
      'pod red/a: nothing is missing, but the lines with a ? could not be checked or are not supported',
    );
    expect(lines.some((line) => line.endsWith(message))).toBe(true);
  });

  it('finds the closed port of a pod that waits for its virtual machine as it has to be', async () => {
    const { missing, lines } = await of({
      agent: { ...sources().agent, pods: () => Promise.resolve([STANDBY]) },
      northbound: memoryTables({
        Logical_Switch_Port: [{ name: 'red.red_red_a', addresses: ['set', []], enabled: false }],
      }),
    });
    expect(missing).toEqual([]);
    expect(lines.some((line) => line.includes('the virtual machine runs in pod red/source'))).toBe(true);
  });

  it.each<[string, Partial<ExplainSources>, string, RegExp]>([
    ['no northbound row', { northbound: memoryTables({}) }, 'northbound port', /no Logical_Switch_Port red.red_red_a/],
    [
      'another address in the row',
      {
        northbound: memoryTables({ Logical_Switch_Port: [{ name: 'red.red_red_a', addresses: '0a:58:0a:64:00:03' }] }),
      },
      'northbound port',
      /lacks 10\.100\.0\.3$/,
    ],
    [
      'a port that is closed',
      {
        northbound: memoryTables({
          Logical_Switch_Port: [{ name: 'red.red_red_a', addresses: '0a:58:0a:64:00:03 10.100.0.3', enabled: false }],
        }),
      },
      'northbound port',
      /is closed/,
    ],
    [
      'a port that is open beside that of its virtual machine',
      { agent: { ...sources().agent, pods: () => Promise.resolve([STANDBY]) } },
      'northbound port',
      /is open, and pod red\/source of the same virtual machine has its addresses$/,
    ],
    [
      'a binding to another chassis',
      {
        openvswitch: memoryTables({ ...VSWITCH, Open_vSwitch: [{ external_ids: ['map', [['system-id', 'other']]] }] }),
      },
      'southbound binding',
      /bound to chassis chassis-1, this node is other/,
    ],
    [
      'no interface',
      { openvswitch: memoryTables({ ...VSWITCH, Interface: [] }) },
      'OVS interface',
      /no interface abc_1/,
    ],
    [
      'an interface with an error',
      { openvswitch: memoryTables({ ...VSWITCH, Interface: [{ ...INTERFACE, error: 'could not open abc_1' }] }) },
      'OVS interface',
      /could not open abc_1/,
    ],
    [
      'a link that is down',
      { openvswitch: memoryTables({ ...VSWITCH, Interface: [{ ...INTERFACE, link_state: 'down' }] }) },
      'OVS interface',
      /abc_1, ofport \d+: its link is down/,
    ],
    [
      'flows that are not installed',
      {
        openvswitch: memoryTables({
          ...VSWITCH,
          Interface: [{ ...INTERFACE, external_ids: ['map', [['iface-id', 'red.red_red_a']]] }],
        }),
      },
      'OVS interface',
      /not installed/,
    ],
    [
      'no address inside',
      { podNetns: { read: () => ({ addresses: [], routes: [{ dst: '0.0.0.0/0', dev: 'ovn-udn1' }] as never }) } },
      'addresses',
      /lacks 10\.100\.0\.3\/24/,
    ],
    [
      'no route of a family that it has addresses of',
      {
        podNetns: {
          read: () => ({
            addresses: [{ link: 'ovn-udn1', address: '10.100.0.3/24' }] as never,
            routes: [{ dst: '::/0', dev: 'ovn-udn1' }] as never,
          }),
        },
      },
      'routes',
      /no IPv4 route is on ovn-udn1/,
    ],
    ['a database that is away', { northbound: silent }, 'northbound port', /no answer/],
    ['one without which nothing is known of flows', { southbound: silent }, 'southbound binding', /no answer/],
  ])('finds %s, and says what to do', async (_, more, what, found) => {
    const { missing, exitStatus } = await of(more);
    expect(exitStatus).toBe(1);
    expect(missing).toEqual([
      { what: `red_red: ${what}`, state: 'missing', found: expect.stringMatching(found), next: expect.any(String) },
    ]);
  });

  it('says which binding is missing before the flows that follow from it', async () => {
    const { missing } = await of({ southbound: memoryTables({}) });
    expect(missing.map(({ what }) => what)).toEqual(['red_red: southbound binding', 'red_red: flows of br-int']);
  });

  it('does not call missing what cannot be seen', async () => {
    const { checks, exitStatus } = await of({ podNetns: { read: () => undefined } });
    expect(exitStatus).toBe(0);
    expect(checks.filter(({ state }) => state === 'unknown')).toHaveLength(1);
  });

  it('knows when the pod is elsewhere, and when there is no agent', async () => {
    const { agent } = sources();
    const gone = { ...agent, pods: () => Promise.resolve([]) };
    expect((await of({ agent: gone })).missing[0]?.found).toContain('does not know pod red/a');
    const dead = { ...agent, pods: () => Promise.reject(new Error('the agent cannot be asked')) };
    expect((await of({ agent: dead })).missing).toMatchObject([{ what: 'agent', found: 'the agent cannot be asked' }]);
  });

  it('a pod without a namespace is a mistake of the command line', () =>
    expect(explain(sources(), 'pod', 'a')).rejects.toMatchObject({ exitStatus: 2 }));
});
