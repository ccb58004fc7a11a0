import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { agrees, logicalResultOf } from './logical-result.ts';
import { allLogicalStages, logicalSteps } from './logical-steps.ts';
import { parseOvnTrace } from './ovn-trace.ts';
import { mutatedText } from './testing/mutated-text.ts';

/** What ovn-trace 25.03 has printed of a small network, and of a tenant of the demo. */
const NAMES = ['local', 'acl', 'out', 'policy', 'next-hop', 'portsec', 'remote', 'in', 'tenant-out'] as const;
const read = (name: (typeof NAMES)[number]): string =>
  readFileSync(join(import.meta.dirname, 'testdata', 'ovn-trace', `${name}.txt`), 'utf8');

const OWNERS = new Map([['red.b', { pod: 'red/b', network: 'red' }]]);
const traceResultOf = (name: (typeof NAMES)[number]) => logicalResultOf(parseOvnTrace(read(name)), OWNERS);

describe('a trace of OVN', () => {
  it('has the pipelines, stages and actions that a packet met', () => {
    const blocks = parseOvnTrace(read('local'));
    expect(blocks.map(({ title }) => title)).toEqual([
      'ingress(dp="s1", inport="red.a")',
      'ct_next(ct_state=new|trk)',
      'egress(dp="s1", inport="red.a", outport="red.b")',
      'ct_next(ct_state=est|trk /* default (use --ct to customize) */)',
    ]);
    expect(blocks[0]?.stages[0]).toEqual({
      table: 0,
      stage: 'ls_in_check_port_sec',
      flow: { match: '1', priority: 50 },
      actions: ['reg0[15] = check_in_port_sec();', 'next;'],
      notes: [],
    });
    expect(blocks.at(-1)?.stages.at(-1)?.notes).toEqual(['output to "red.b", type ""']);
  });

  it('has stages in which no flow matched', () => {
    const text = '# reg14=0x1\n\ningress(dp="s", inport="a")\n----\n 0. ls_in_l2_lkup: no match (implicit drop)\n';
    expect(parseOvnTrace(text)[0]?.stages).toEqual([{ table: 0, stage: 'ls_in_l2_lkup', actions: [], notes: [] }]);
    expect(logicalResultOf(parseOvnTrace(text), OWNERS).message).toBe(
      'dropped by switch s: no flow of stage ls_in_l2_lkup matches',
    );
  });
});

describe('what OVN says becomes of a packet', () => {
  it.each([
    ['local', 'port', 'it comes to red/b, port red.b'],
    [
      'acl',
      'dropped',
      'dropped by an ACL of switch s1 (priority 1001): reg0[10] == 1 && (outport == "red.b" && tcp.dst == 81)',
    ],
    ['policy', 'dropped', 'dropped by stage lr_in_policy of router r1: ip4.dst == 9.9.9.9'],
    ['portsec', 'dropped', 'dropped by stage ls_in_apply_port_sec of switch s1: reg0[15] == 1'],
    ['next-hop', 'controller', 'router r1 does not know the MAC of the next hop and requests it'],
    ['remote', 'remote', 'it goes to another node, as port red.b'],
    ['in', 'unknown', 'it cannot be followed past stage lr_in_unsnat of router r1: conntrack decides'],
    ['tenant-out', 'gateway', 'it goes to the gateway bridge through br-ex_red_red_node-1'],
  ] as const)('%s: %s', (name, kind, message) => expect(traceResultOf(name)).toMatchObject({ kind, message }));

  it.each([
    ['local', { kind: 'delivered', pod: 'red/b' }, true],
    ['local', { kind: 'delivered', pod: 'red/c' }, false],
    ['local', { kind: 'dropped', bridge: 'br-int' }, false],
    ['local', { kind: 'port' }, undefined],
    ['acl', { kind: 'dropped', bridge: 'br-int' }, true],
    ['acl', { kind: 'delivered', pod: 'red/b' }, false],
    ['remote', { kind: 'tunnel' }, true],
    ['next-hop', { kind: 'controller' }, true],
    ['in', { kind: 'dropped', bridge: 'br-int' }, undefined],
    // Behind the gateway bridge's port OVN knows nothing.
    ['tenant-out', { kind: 'leaves' }, true],
    ['tenant-out', { kind: 'dropped', bridge: 'br-ex' }, true],
    ['tenant-out', { kind: 'host', bridge: 'br-ex' }, true],
    ['tenant-out', { kind: 'host', bridge: 'br-int' }, false],
    ['tenant-out', { kind: 'tunnel' }, false],
  ] as const)('%s and %j agree: %s', (name, result, same) =>
    expect(agrees(result, traceResultOf(name), OWNERS)).toBe(same),
  );
});

describe('the steps in words', () => {
  it('name switches, routers, routes, translation and ports', () =>
    expect(logicalSteps(parseOvnTrace(read('tenant-out')))).toEqual([
      'switch red_red_node-1: from port red.red_red_red-a',
      '  conntrack: new|trk',
      '  to port stor-red_red_node-1 (patch)',
      'router red_red_ovn_cluster_router: from port rtos-red_red_node-1',
      '  route of 10.100.0.0/24 by 100.65.0.2, out of rtoj-red_red_ovn_cluster_router',
      '  to port rtoj-red_red_ovn_cluster_router (patch)',
      'switch red_red_join: from port jtor-red_red_ovn_cluster_router',
      '  to port jtor-GR_red_red_node-1 (l3gateway)',
      'router GR_red_red_node-1: from port rtoj-GR_red_red_node-1',
      '  route to 0.0.0.0/0 by 172.20.0.1, out of rtoe-GR_red_red_node-1',
      '  the next hop is at 2e:37:99:15:b1:90',
      '  source becomes 169.254.0.11',
      '  to port rtoe-GR_red_red_node-1 (l3gateway)',
      'switch ext_red_red_node-1: from port etor-GR_red_red_node-1',
      '  to port br-ex_red_red_node-1 (localnet)',
    ]));

  it('name ACLs, and what drops', () => {
    expect(logicalSteps(parseOvnTrace(read('acl')))).toContain(
      '  ACL (priority 1001): reg0[7] == 1 && (inport == "red.a")',
    );
    expect(logicalSteps(parseOvnTrace(read('policy'))).slice(-2)).toEqual([
      '  policy (priority 100): ip4.dst == 9.9.9.9',
      '  dropped by stage lr_in_policy: ip4.dst == 9.9.9.9',
    ]);
  });

  it('say nothing of the request for a MAC, which is another packet', () => {
    const blocks = parseOvnTrace(read('next-hop'));
    expect(logicalSteps(blocks)).toContain('  the MAC of the next hop is unknown');
    expect(logicalSteps(blocks).join('\n')).not.toContain('ff:ff:ff:ff:ff:ff');
    expect(allLogicalStages(blocks).join('\n')).toContain('ff:ff:ff:ff:ff:ff');
  });
});

describe('what is no trace is refused', () => {
  it.each([
    ['a datapath that is not there', 'unknown datapath "nope"\n', 'ovn-trace failed: unknown datapath "nope"'],
    [
      'a microflow that is none',
      'error parsing flow: Syntax error\n',
      'ovn-trace failed: error parsing flow: Syntax error',
    ],
    ['nothing', '', 'ovn-trace failed: nothing'],
    ['only the packet', '# tcp,reg14=0x2\n', 'ovn-trace shows no pipeline'],
    ['a stage without a priority', read('local').replace(', priority 50', ''), /cannot be parsed/],
  ])('%s', (_, text, message) => expect(() => parseOvnTrace(text)).toThrow(message));
});

it('is read whatever somebody makes of it, or refused with a message', () => {
  const mutated = mutatedText(NAMES, read);
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string()), (text) => {
      try {
        const blocks = parseOvnTrace(text);
        expect(logicalResultOf(blocks, OWNERS).message).not.toBe('');
        expect(logicalSteps(blocks).length).toBeLessThanOrEqual(allLogicalStages(blocks).length * 4);
      } catch (error) {
        expect(error).toBeInstanceOf(CliError);
      }
    }),
  );
});
