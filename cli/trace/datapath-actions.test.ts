import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import { goesToController, outputsOf } from './datapath-actions.ts';
import { parseDatapathPorts } from './port-names.ts';

describe('datapath actions', () => {
  it.each([
    ['drop', []],
    ['7', [7]],
    ['ct(commit,zone=64000,mark=0x4/0xffffffff,nat(src=172.20.0.11)),12', [12]],
    ['13,11', [13, 11]],
    ['ct(zone=17),recirc(0xc)', []],
    ['check_pkt_len(size=1414,gt(sample(sample=100.0%,actions(9))),le(set(ipv4(ttl=63)),7))', [7]],
    ['clone(tnl_push(tnl_port(4),header(geneve(options({class=0x102,type=0x80}))),out_port(2)),1)', []],
    ['3,tnl_push(tnl_port(4),header(geneve(options({class=0x102,type=0x80}))),out_port(2)),1', [3]],
    ['clone(ct(zone=3),5),6', [5, 6]],
  ])('%s', (actions, ports) => expect(outputsOf(actions)).toEqual(ports));
});

const controller = 'sample(sample=100.0%,actions(meter(3),userspace(pid=0,controller(reason=1))))';

describe('a packet for the controller', () => {
  it.each([
    [controller, true],
    [`check_pkt_len(size=1414,gt(${controller}),le(drop))`, false],
    [`check_pkt_len(size=1414,gt(drop),le(${controller}))`, true],
    ['userspace(pid=0,controller(reason=1,dont_send=0))', true],
    ['7', false],
  ])('%s', (actions, goes) => expect(goesToController(actions)).toBe(goes));
});

const SHOW = `netdev@ovs-netdev: hit:1458 missed:93
  br-ex:
    br-ex 65534/2: (tap)
    eth0 1/1: (system)
    patch-br-ex_n1-to-br-int 3/none: (patch: peer=patch-br-int-to-br-ex_n1)
  br-int:
    ovn-5bc4b7-0 1/4: (geneve: csum=true, key=flow, local_ip=172.20.0.11, remote_ip=172.20.0.12)
`;

describe('ports of the datapath', () => {
  it('have names for both kinds of numbers', () =>
    expect(parseDatapathPorts(SHOW)).toMatchObject([
      { bridge: 'br-ex', name: 'br-ex', ofport: 65_534, datapathPort: 2, type: 'tap' },
      { bridge: 'br-ex', name: 'eth0', ofport: 1, datapathPort: 1 },
      { bridge: 'br-ex', ofport: 3, datapathPort: undefined, type: 'patch', peer: 'patch-br-int-to-br-ex_n1' },
      { bridge: 'br-int', name: 'ovn-5bc4b7-0', type: 'geneve', remoteIp: '172.20.0.12' },
    ]));

  it('are refused when something else is said', () =>
    expect(() => parseDatapathPorts('unknown command')).toThrow(CliError));

  it('whatever is said is read or refused with a message', () =>
    fc.assert(
      fc.property(fc.nat(SHOW.length), fc.string(), fc.string(), (at, text, actions) => {
        expect(outputsOf(actions).every(Number.isInteger)).toBe(true);
        try {
          parseDatapathPorts(`${SHOW.slice(0, at)}${text}${SHOW.slice(at)}`);
        } catch (error) {
          expect(error).toBeInstanceOf(CliError);
        }
      }),
    ));
});
