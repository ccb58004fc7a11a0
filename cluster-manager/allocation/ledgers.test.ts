import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { type Network, networkOfNetConf } from '../../api/network.ts';
import { addressOf, cidrContains, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parsePortKey } from '../../net/ids.ts';
import { parseIp } from '../../net/ip.ts';
import { macFromIp, parseMac } from '../../net/mac.ts';
import { netConf } from '../testing/objects.ts';
import { AddressLedger } from './address-ledger.ts';
import { createIdLedger } from './id-ledger.ts';
import { PodAllocations } from './pod-allocations.ts';
import type { Port } from './port.ts';
import { createSubnetLedger } from './subnet-ledger.ts';

const layer2 = (fields: Record<string, unknown> = {}): Network => {
  const conf = parseNetConf(JSON.stringify(netConf('ns/n', 'net', fields)), { namespace: 'ns', name: 'n' });
  return networkOfNetConf(conf!, parseClusterConfig());
};

describe('id ledger', () => {
  it('gives the lowest free id and the same one again', () => {
    const ids = createIdLedger({ min: 1, max: 3 });
    expect(ids.recover('b', 2)).toBeUndefined();
    expect([ids.assign('a'), ids.assign('a'), ids.assign('b'), ids.assign('c')]).toEqual([1, 1, 2, 3]);
    expect(() => ids.assign('d')).toThrow(expect.objectContaining({ code: 'ERR_NET_EXHAUSTED' }));
    ids.release('a');
    ids.release('a');
    expect(ids.assign('d')).toBe(1);
  });

  it('says who holds a recovered id, and moves an owner that is recovered twice', () => {
    const ids = createIdLedger({ min: 1, max: 9 });
    ids.recover('a', 5);
    expect(ids.recover('b', 5)).toBe('a');
    expect(ids.get('b')).toBeUndefined();
    ids.recover('a', 6);
    expect([ids.holderOf(5), ids.holderOf(6), ids.size]).toEqual([undefined, 'a', 1]);
    expect(() => ids.recover('c', 10)).toThrow(expect.objectContaining({ code: 'ERR_NET_RANGE' }));
  });

  it('recovers low ids that it never gives', () => {
    const ids = createIdLedger({ min: 1, max: 20, firstGiven: 10 });
    expect([ids.recover('old', 3), ids.recover('x', 3), ids.assign('new')]).toEqual([undefined, 'old', 10]);
    ids.release('old');
    expect(ids.recover('x', 3)).toBeUndefined();
  });
});

describe('subnet ledger', () => {
  const ranges = [
    { cidr: parseCidr('10.0.0.0/23'), hostPrefix: 24 },
    { cidr: parseCidr('10.9.0.0/24'), hostPrefix: 24 + 1 },
    { cidr: parseCidr('fd00::/63'), hostPrefix: 64 },
  ];

  it('gives one subnet of every family, all or nothing', () => {
    const ledger = createSubnetLedger(ranges);
    expect(ledger.assign('n1')).toEqual(['10.0.0.0/24', 'fd00::/64']);
    expect(ledger.assign('n1')).toEqual(['10.0.0.0/24', 'fd00::/64']);
    expect(ledger.assign('n2')).toEqual(['10.0.1.0/24', 'fd00:0:0:1::/64']);
    expect(() => ledger.assign('n3')).toThrow('no subnet left in fd00::/63/64');
    expect(ledger.get('n3')).toBeUndefined();
    ledger.release('n1');
    expect(ledger.assign('n3')).toEqual(['10.0.0.0/24', 'fd00::/64']);
  });

  it('explains what it can not recover', () => {
    const ledger = createSubnetLedger(ranges);
    expect(ledger.recover('n1', [parseCidr('10.0.1.0/24')])).toEqual([]);
    expect(ledger.recover('n2', ['10.0.1.0/24', '10.5.0.0/24', 'fd00:0:0:1::/64'].map(parseCidr))).toEqual([
      '10.0.1.0/24 already belongs to n1',
      "10.5.0.0/24 is not in the network's subnets",
    ]);
    expect(ledger.recover('n1', [parseCidr('10.0.0.0/24')])).toEqual([
      '10.0.0.0/24 is a second IPv4 subnet: keeping 10.0.1.0/24',
    ]);
    expect(ledger.assign('n1')).toEqual(['10.0.1.0/24', 'fd00::/64']);
    expect(ledger.assign('n2')).toEqual(['10.0.0.0/24', 'fd00:0:0:1::/64']);
  });

  it('counts what is used of each range, whatever comes and goes', () => {
    const node = fc.constantFrom('n1', 'n2', 'n3', 'n4');
    const subnet = fc.constantFrom('10.0.1.0/24', '10.9.0.128/25', 'fd00:0:0:1::/64', '10.5.0.0/24').map(parseCidr);
    const event = fc.oneof(
      fc.record({ kind: fc.constantFrom('assign' as const, 'release' as const), node }),
      fc.record({ kind: fc.constant('recover' as const), node, subnet }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        const ledger = createSubnetLedger(ranges);
        for (const one of events) {
          if (one.kind === 'release') ledger.release(one.node);
          else if (one.kind === 'recover') ledger.recover(one.node, [one.subnet]);
          else
            try {
              ledger.assign(one.node);
            } catch {}
        }
        const held = ledger.owners().flatMap((owner) => ledger.get(owner) ?? []);
        const used = ranges.map(({ cidr }) => held.filter((one) => cidrContains(cidr, one)).length);
        expect(ledger.usage().map((one) => one.used)).toEqual(used);
      }),
      { numRuns: 200 },
    );
  });
});

/** Of a pod that shares nothing. */
const port = (id: string): Port => ({ id, owner: id, machine: id });

describe('address ledger', () => {
  it('starts behind the gateway and the management port, and at tunnel id 10', () => {
    const ledger = new AddressLedger(layer2());
    expect(ledger.assign(port('ns/a'))).toEqual({
      addresses: ['100.200.0.3/16'],
      mac: '0a:58:64:c8:00:03',
      tunnelId: 10,
    });
    expect(ledger.assign(port('ns/b'))).toMatchObject({ addresses: ['100.200.0.4/16'], tunnelId: 11 });
    expect(ledger.assign(port('ns/a'))).toMatchObject({ tunnelId: 10 });
    expect([ledger.release('ns/a'), ledger.release('ns/a')]).toEqual([true, false]);
    expect(ledger.assign(port('ns/c'))).toMatchObject({ addresses: ['100.200.0.3/16'], tunnelId: 10 });
  });

  it('starts at the first address of a secondary network, and leaves out what is excluded', () => {
    const ledger = new AddressLedger(layer2({ role: 'secondary', excludeSubnets: '100.200.0.0/29' }));
    expect(ledger.assign(port('a')).addresses).toEqual(['100.200.0.8/16']);
    expect(new AddressLedger(layer2({ role: 'secondary' })).assign(port('a')).addresses).toEqual(['100.200.0.1/16']);
  });

  it('gives one address of each family; the MAC is that of the IPv4 one', () => {
    const ledger = new AddressLedger(layer2({ subnets: 'fd01::/64,100.200.0.0/16' }));
    expect(ledger.assign(port('a'))).toMatchObject({
      addresses: ['fd01::3/64', '100.200.0.3/16'],
      mac: '0a:58:64:c8:00:03',
    });
  });

  it('gives a MAC without an address where the network has no subnets', () => {
    const ledger = new AddressLedger(layer2({ subnets: '', role: 'secondary' }));
    const [a, b] = [ledger.assign(port('a')), ledger.assign(port('b'))];
    expect(a.addresses).toEqual([]);
    expect(a.mac).toMatch(/^0a:58:/);
    expect(a.mac).not.toBe(b.mac);
    expect(ledger.assign(port('a'))).toEqual(a);
  });

  it('gives what is asked for, unless somebody has it or nobody may', () => {
    const ledger = new AddressLedger(
      layer2({
        reservedSubnets: '100.200.9.0/24',
        infrastructureSubnets: '100.200.8.0/24',
        excludeSubnets: '100.200.7.0/24',
      }),
    );
    const ask = (owner: string, ip: string) => ledger.assign(port(owner), { ips: [parseIp(ip)] });
    expect(ask('a', '100.200.9.7').addresses).toEqual(['100.200.9.7/16']);
    expect(() => ask('b', '100.200.9.7')).toThrow('requested address 100.200.9.7 already belongs to a');
    for (const [ip, why] of [
      ['100.200.0.0', 'the network address of subnet 100.200.0.0/16'],
      ['100.200.255.255', 'the broadcast address of subnet 100.200.0.0/16'],
      ['100.200.8.9', 'in infrastructure subnet 100.200.8.0/24'],
      ['100.200.7.9', 'in excluded subnet 100.200.7.0/24'],
    ] as const) {
      expect(() => ask('b', ip)).toThrow(`requested address ${ip} is not available to pods: it is ${why}`);
    }
    const plain = new AddressLedger(layer2());
    for (const [ip, what] of [
      ['100.200.0.1', 'gateway'],
      ['100.200.0.2', 'management port'],
    ] as const) {
      expect(() => plain.assign(port('b'), { ips: [parseIp(ip)] })).toThrow(
        `requested address ${ip} is not available to pods: it is the ${what} of subnet 100.200.0.0/16`,
      );
    }
    expect(() => ask('b', '10.0.0.1')).toThrow('no requested address (10.0.0.1) is in subnet 100.200.0.0/16');
    expect(() => ledger.assign(port('b'), { ips: ['100.200.1.1', '100.200.1.2'].map(parseIp) })).toThrow(
      '2 addresses are requested',
    );
    const mac = parseMac('02:00:00:00:00:01');
    expect(ledger.assign(port('b'), { ips: [], mac }).mac).toBe(mac);
    expect(() => ledger.assign(port('c'), { ips: [], mac })).toThrow('MAC 02:00:00:00:00:01 already belongs to b');
    expect(ledger.get('c')).toBeUndefined();
  });

  it('skips an address whose MAC somebody asked for', () => {
    const ledger = new AddressLedger(layer2());
    ledger.assign(port('a'), { ips: [parseIp('100.200.7.7')], mac: macFromIp(parseIp('100.200.0.3')) });
    expect(ledger.assign(port('b')).addresses).toEqual(['100.200.0.4/16']);
    ledger.release('a');
    expect(ledger.assign(port('c')).addresses).toEqual(['100.200.0.3/16']);
  });

  it('recovers all that is free, and says who has the rest', () => {
    const ledger = new AddressLedger(layer2());
    const held = (ip: string, mac: string, tunnelId: number) => ({
      addresses: [parseInterfaceAddress(ip)],
      mac: parseMac(mac),
      tunnelId: parsePortKey(tunnelId),
    });
    expect(ledger.recover(port('a'), held('100.200.0.3/16', '0a:58:64:c8:00:03', 3))).toEqual([]);
    expect(ledger.recover(port('b'), held('100.200.0.3/16', '0a:58:64:c8:00:03', 3))).toEqual([
      'address 100.200.0.3 already belongs to a',
      'MAC 0a:58:64:c8:00:03 already belongs to a',
      'tunnel id 3 already belongs to a',
    ]);
    expect(ledger.recover(port('c'), held('10.0.0.3/16', '0a:58:64:c8:00:09', 10))).toEqual([
      'address 10.0.0.3/16 is not in the subnets of the network',
    ]);
    // It runs with them, so nobody else gets them.
    expect(ledger.recover(port('e'), held('100.200.0.1/16', '0a:58:64:c8:00:01', 12))).toEqual([
      'address 100.200.0.1 is not available to pods: it is the gateway of subnet 100.200.0.0/16',
    ]);
    expect(ledger.recover(port('f'), held('100.200.0.9/24', '0a:58:64:c8:00:0a', 13))).toEqual([
      'address 100.200.0.9/24 does not have the prefix length of subnet 100.200.0.0/16',
    ]);
    expect(() => ledger.assign(port('b'))).toThrow('its annotation holds the addresses of another pod');
    expect(ledger.assign(port('d'))).toMatchObject({ addresses: ['100.200.0.4/16'], tunnelId: 11 });
    ledger.release('b');
    expect(ledger.assign(port('a')).addresses).toEqual(['100.200.0.3/16']);
  });

  it('passes what several had on to the oldest that is left, each part by itself, also in the ledger that follows', () => {
    const pods = new PodAllocations();
    const network = layer2();
    pods.setNetwork(network);
    const held = (ip: string, tunnelId: number) => ({
      addresses: [parseInterfaceAddress(`${ip}/16`)],
      mac: macFromIp(parseIp('100.200.0.9')),
      tunnelId: parsePortKey(tunnelId),
    });
    const recover = (pod: string, ip: string, key: number) =>
      pods.recover(pod, 'ns/nad', network.name, held(ip, key)).length;
    expect([recover('ns/a', '100.200.0.9', 17), recover('ns/b', '100.200.0.9', 18)]).toEqual([0, 2]);
    expect([recover('ns/c', '100.200.0.9', 17), recover('ns/d', '100.200.0.10', 17)]).toEqual([3, 2]);
    pods.setNetwork(network);
    pods.release('ns/a');
    expect(pods.get('ns/b', 'ns/nad')).toEqual(held('100.200.0.9', 18));
    expect([pods.get('ns/c', 'ns/nad'), pods.get('ns/d', 'ns/nad')]).toEqual([undefined, undefined]);
    expect(pods.usageOf(network.name)[0]?.used).toBe(2);
    pods.release('ns/c');
    pods.release('ns/b');
    expect(pods.get('ns/d', 'ns/nad')).toEqual(held('100.200.0.10', 17));
    expect(pods.assign('ns/e', 'ns/nad', network.name, { ips: [] })).toMatchObject({
      addresses: ['100.200.0.3/16'],
      tunnelId: 10,
    });
    pods.release('ns/d');
    expect(pods.usageOf(network.name)[0]?.used).toBe(1);
  });

  it('refuses the MAC of an address that another owner has, though nobody uses it', () => {
    const ledger = new AddressLedger(layer2());
    ledger.keep('claim', [parseInterfaceAddress('100.200.0.9/16')]);
    const mac = macFromIp(parseIp('100.200.0.9'));
    expect(() => ledger.assign(port('a'), { ips: [], mac })).toThrow(`MAC ${mac} already belongs to claim`);
    const next = { ...port('b'), owner: 'claim' };
    expect(ledger.assign(next, { ips: [], mac })).toMatchObject({ addresses: ['100.200.0.9/16'], mac });
    // Of its own machine a MAC is asked for by each of its pods.
    const first = ledger.assign({ id: 'vm-1', owner: 'vm-1', machine: 'vm' });
    expect(ledger.assign({ id: 'vm-2', owner: 'vm-2', machine: 'vm' }, { ips: [], mac: first.mac }).mac).toBe(
      first.mac,
    );
  });

  it("refuses the MACs of the network's gateway and management ports, and gives none of them", () => {
    const ledger = new AddressLedger(layer2());
    for (const ip of ['100.200.0.1', '100.200.0.2']) {
      const mac = macFromIp(parseIp(ip));
      expect(() => ledger.assign(port('a'), { ips: [], mac })).toThrow(
        `requested MAC ${mac} is that of the network's gateway`,
      );
    }
    expect(ledger.size).toBe(0);
    const secondary = new AddressLedger(layer2({ role: 'secondary' }));
    expect(secondary.assign(port('a'), { ips: [], mac: macFromIp(parseIp('100.200.0.9')) }).addresses).toHaveLength(1);
  });

  it('runs out of addresses with a message', () => {
    const ledger = new AddressLedger(layer2({ subnets: '10.0.0.0/29' }));
    for (const owner of ['a', 'b', 'c', 'd']) ledger.assign(port(owner));
    expect(() => ledger.assign(port('e'))).toThrow('subnet 10.0.0.0/29 has no free address left');
    expect(ledger.size).toBe(4);
  });

  it('says that pods may request an address where only reserved ones are left', () => {
    const text = 'subnet 10.0.0.0/29 has no free address left';
    const onRequest = `${text} outside of reservedSubnets, where pods get addresses on request`;
    const ledger = new AddressLedger(layer2({ subnets: '10.0.0.0/29', reservedSubnets: '10.0.0.0/29' }));
    expect(() => ledger.assign(port('a'))).toThrow(onRequest);
    for (const last of [3, 4, 5, 6]) ledger.assign(port(`p${last}`), { ips: [parseIp(`10.0.0.${last}`)] });
    expect(() => ledger.assign(port('a'))).toThrow(new RegExp(`${text}$`));
  });

  it('never gives anything twice, whatever is asked, recovered and released', () => {
    const owner = fc.integer({ min: 0, max: 20 }).map((n) => `pod-${n}`);
    const ip = fc.integer({ min: 0, max: 255 }).map((n) => `100.200.0.${n}`);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('assign' as const), owner }),
      fc.record({ kind: fc.constant('ask' as const), owner, ip }),
      fc.record({ kind: fc.constant('release' as const), owner }),
      fc.record({ kind: fc.constant('recover' as const), owner, ip, key: fc.integer({ min: 1, max: 30 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const ledger = new AddressLedger(layer2({ subnets: '100.200.0.0/24,fd00::/64' }));
        for (const one of steps) {
          try {
            if (one.kind === 'assign') ledger.assign(port(one.owner));
            else if (one.kind === 'release') ledger.release(one.owner);
            else if (one.kind === 'ask')
              ledger.assign(port(one.owner), { ips: [parseIp(one.ip), parseIp('fd00::77')] });
            else {
              const addresses = [parseInterfaceAddress(`${one.ip}/24`)];
              ledger.recover(port(one.owner), {
                addresses,
                mac: macFromIp(parseIp(one.ip)),
                tunnelId: parsePortKey(one.key),
              });
            }
          } catch (error) {
            expect(error).toMatchObject({ name: 'AllocationError' });
          }
          const held = ledger.ports().map(({ id }) => ledger.held(id));
          const ips = held.flatMap(({ addresses }) => addresses.map(addressOf));
          const macs = held.flatMap(({ mac }) => mac ?? []);
          const keys = held.flatMap(({ tunnelId }) => tunnelId ?? []);
          for (const list of [ips, macs, keys.map(String)]) expect(new Set<string>(list).size).toBe(list.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
