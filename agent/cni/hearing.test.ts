import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FrameTest, type SharedRule, sharedRules } from '../../datapath/netlink/frame-filter/types.ts';
import type { Hearing } from '../../datapath/netlink/pod-interface/types.ts';
import { parseMac } from '../../net/mac.ts';
import type { PodAttachments } from '../model/attachments.ts';
import { TestCluster } from '../testing/cluster.ts';
import { verdictOn } from '../testing/frame-verdict.ts';
import { hearing } from './hearing.ts';

const ROUTER = '0a580a800001';
const NODE = '0a580a800002';
const OWN = '0a580a800003';
const LOCKED = '0a580a800009';
const OTHER = '0a580a80000a';
const TENANT_ROUTER = '0a580a140101';
const EVERYBODY = 'ffffffffffff';

const cluster = new TestCluster('node1')
  .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23', 'fd00:1::/64'], red: ['10.20.1.0/24'] } })
  .namespace('ns')
  .namespace('red', true)
  .network('red', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
  .pod('ns/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23', 'fd00:1::3/64'], role: 'primary' } } })
  .pod('red/a', {
    node: 'node1',
    networks: {
      default: { ips: ['10.128.0.3/23', 'fd00:1::3/64'], role: 'infrastructure-locked' },
      'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
    },
  });
cluster.render();

const hearingOf = (pod: string, nadKey: string) => {
  const all: readonly PodAttachments[] = [...cluster.sinks.attachments.values()];
  const found = all.find((one) => `${one.pod.namespace}/${one.pod.name}` === pod);
  const attachment = found?.attachments.find((one) => one.nadKey === nadKey);
  const entry = found?.pod.networks.get(nadKey);
  if (attachment === undefined || entry === undefined) throw new Error(`${pod} is not on ${nadKey}`);
  return hearing(attachment, entry);
};

const locked = hearingOf('red/a', 'default');
const open = hearingOf('ns/a', 'default');
const tenant = hearingOf('red/a', 'red/net');

const testWords = (test: FrameTest): string => {
  if ('length' in test) return `length ${test.length}`;
  if ('sender' in test) return `sender ${test.sender}`;
  if ('origin' in test) return test.origin;
  if ('from' in test) return `${test.at}: ${test.from}-${test.to}`;
  return `${test.at}: ${test.is}${test.mask === undefined ? '' : ` mask ${test.mask}`}`;
};
const words = ({ tests, verdict }: SharedRule): string => [...tests.map(testWords), verdict].join(', ');

const ANSWERS = [
  `length 42, 0: ${OWN}, 12: 08060001080006040002, 32: ${OWN}0a800003, accept`,
  `length 86, 0: ${OWN}, 12: 86dd6000000000203aff, 54: 8800, 58: 60000000, 78: 0201, accept`,
];
const WITHOUT_CONTROL = [
  ...['06', '11', '84'].flatMap((protocol) => [
    `12: 86dd, 20: ${protocol}, accept`,
    `12: 86dd, 20: 2c, 54: ${protocol}, accept`,
  ]),
  '12: 86dd, 20: 3a, 54: 130-143, return',
  '12: 86dd, 20: 3a, accept',
  '12: 86dd, 20: 2c, 54: 3a, 56: 0000 mask fff8, 62: 130-143, return',
  '12: 86dd, 20: 2c, 54: 3a, accept',
];
const NO_ROUTER = [
  '12: 86dd, 20: 3a, 21: ff, 22: fe80 mask ffc0, 54: 86, return',
  ...['00', '2b', '2c', '33', '3c', '87'].map(
    (header) => `12: 86dd, 20: ${header}, 21: ff, 22: fe80 mask ffc0, return`,
  ),
];

const INFRASTRUCTURE = [`6: ${ROUTER}, accept`, `6: ${NODE}, accept`];

describe('the rules', () => {
  it('of a locked interface', () => {
    expect(locked.isLocked).toBe(true);
    expect(sharedRules(locked.shared).map(words)).toEqual([
      'sender locked, drop',
      '12: 0800, accept',
      ...WITHOUT_CONTROL,
    ]);
    expect(locked.rules.map(words)).toEqual([...INFRASTRUCTURE, ...ANSWERS]);
  });

  it('of a pod of the default network', () => {
    const shared = ['12: 0800, accept', ...NO_ROUTER, 'sender not locked, accept', ...WITHOUT_CONTROL];
    expect([open.isLocked, sharedRules(open.shared).map(words)]).toEqual([false, shared]);
    expect(open.rules.map(words)).toEqual([...INFRASTRUCTURE, ...ANSWERS]);
  });

  it('of a tenant’s own network', () => {
    const shared = ['12: 0800, accept', ...NO_ROUTER, 'accept'];
    expect([tenant.isLocked, sharedRules(tenant.shared).map(words)]).toEqual([undefined, shared]);
    expect(tenant.rules.map(words)).toEqual([`6: ${TENANT_ROUTER}, accept`, '6: 0a580a140102, accept']);
  });
});

const MACS: ReadonlySet<string> = new Set([LOCKED, OWN]);
const frame = (to: string, from: string, rest: string, length = 0): Buffer => {
  const bytes = Buffer.from(`${to}${from}${rest}`, 'hex');
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length))]);
};
const verdict = (hears: Hearing, bytes: Buffer) => verdictOn(hears, bytes, MACS);

const anyFrame = (from: string): fc.Arbitrary<Buffer> =>
  fc
    .record({
      to: fc.constantFrom(OWN, EVERYBODY, '333300000001'),
      type: fc.constantFrom('0800', '0806', '86dd', '8100', '88cc', '1234'),
      rest: fc.uint8Array({ minLength: 0, maxLength: 120 }),
    })
    .map(({ to, type, rest }) => Buffer.concat([frame(to, from, type), rest]));

describe('a locked interface', () => {
  it('hears nothing at all of other locked ones', () => {
    fc.assert(fc.property(anyFrame(LOCKED), (bytes) => verdict(locked, bytes) === 'drop'));
  });

  it('hears everything of the router and the node', () => {
    for (const from of [ROUTER, NODE]) {
      fc.assert(fc.property(anyFrame(from), (bytes) => verdict(locked, bytes) === 'accept'));
    }
  });

  it('hears of others only IP, or answers of the right length', () => {
    fc.assert(
      fc.property(anyFrame(OTHER), (bytes) => {
        if (verdict(locked, bytes) === 'drop') return;
        const type = bytes.readUInt16BE(12);
        if (type === 0x0806) expect(bytes.length).toBe(42);
        else expect([0x0800, 0x86dd]).toContain(type);
      }),
    );
  });
});

const IPV6 = 'fe800000000000000858000000000001ff020000000000000000000000000001';
const icmp6 = (type: number, { header = '3a', hops = 'ff', inner = '' } = {}): string =>
  `86dd600000000040${header}${hops}${IPV6}${inner}${type.toString(16)}00`;

describe.each([
  { who: 'a locked interface', hears: locked, from: OTHER },
  { who: 'a pod of the default network', hears: open, from: LOCKED },
])('$who, of $from', ({ hears, from }) => {
  it('hears neither neighbours, listeners nor routers, in fragments neither', () => {
    for (const type of [130, 131, 132, 133, 134, 135, 136, 137, 143]) {
      for (const inner of ['', '3a00000000000001']) {
        const header = inner === '' ? '3a' : '2c';
        for (const hops of ['ff', '01', '40']) {
          expect(verdict(hears, frame(EVERYBODY, from, icmp6(type, { header, hops, inner }), 120))).toBe('drop');
        }
      }
    }
  });

  it('hears echoes, and transport protocols, in fragments too', () => {
    expect(verdict(hears, frame(OWN, from, icmp6(128), 120))).toBe('accept');
    expect(
      verdict(hears, frame(OWN, from, icmp6(128, { header: '2c', hops: '40', inner: '3a00000000000001' }), 120)),
    ).toBe('accept');
    // The later part of one has no type.
    expect(
      verdict(hears, frame(OWN, from, icmp6(135, { header: '2c', hops: '40', inner: '3a00000900000001' }), 120)),
    ).toBe('accept');
    for (const header of ['06', '11', '84'])
      expect(verdict(hears, frame(OWN, from, icmp6(0x87, { header })))).toBe('accept');
  });

  it('hears nothing behind other extension headers', () => {
    for (const header of ['00', '2b', '33', '3c', '87', '8c', '3b', '32'])
      expect(verdict(hears, frame(OWN, from, icmp6(128, { header }), 120))).toBe('drop');
  });

  const reply = `0806000108000604000${2}${from}0a80000a${OWN}0a800003`;
  const advertisement = `86dd6000000000203aff${IPV6}880012346000000000000000000000000000000000000000${'0201'}${from}`;

  it('hears the answers that OVN makes in others’ names', () => {
    expect(verdict(hears, frame(OWN, from, reply))).toBe('accept');
    expect(frame(OWN, from, advertisement)).toHaveLength(86);
    expect(verdict(hears, frame(OWN, from, advertisement))).toBe('accept');
  });

  it('hears no answer with room for more', () => {
    for (const bytes of [
      frame(OWN, from, reply, 60),
      frame(EVERYBODY, from, reply),
      frame(OWN, from, reply.replace(`${OWN}0a800003`, `${OWN}0a800004`)),
      frame(OWN, from, reply.replace('06040002', '06040001')),
      frame(OWN, from, advertisement, 87),
      frame(EVERYBODY, from, advertisement),
      frame(OWN, from, advertisement.replace('60000000002', '6000abcd002')),
      frame(OWN, from, advertisement.replace('60000000000', '60000001000')),
    ])
      expect(verdict(hears, bytes)).toBe('drop');
  });
});

describe.each([
  { who: 'a pod of the default network', hears: open, router: ROUTER },
  { who: 'a pod in its own network', hears: tenant, router: TENANT_ROUTER },
])('$who', ({ hears, router }) => {
  it('hears router advertisements of its router alone', () => {
    for (const header of ['3a', '00', '2b', '2c', '33', '3c', '87']) {
      const advertisement = icmp6(134, { header, inner: header === '3a' ? '' : '3a00000000000000' });
      expect(verdict(hears, frame(EVERYBODY, OTHER, advertisement, 120))).toBe('drop');
      expect(verdict(hears, frame(EVERYBODY, router, advertisement, 120))).toBe('accept');
    }
  });

  it('hears neighbours, listeners and whatever else', () => {
    for (const type of [131, 133, 135, 136, 143])
      expect(verdict(hears, frame(EVERYBODY, OTHER, icmp6(type), 120))).toBe('accept');
    expect(verdict(hears, frame(EVERYBODY, OTHER, icmp6(143, { header: '00', hops: '01' }), 120))).toBe('accept');
    for (const type of ['0800', '0806', '88cc'])
      expect(verdict(hears, frame(EVERYBODY, OTHER, type, 60))).toBe('accept');
  });
});

it('the router of a locked pod’s own network is not the one of its locked interface', () => {
  const other = parseMac('0a:58:0a:14:01:01').replaceAll(':', '');
  expect(verdict(locked, frame(EVERYBODY, other, icmp6(134), 120))).toBe('drop');
});
