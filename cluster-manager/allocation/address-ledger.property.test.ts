import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { gatewayIp, managementIp, type Network, networkOfNetConf } from '../../api/network.ts';
import { addressAt, addressOf, type Cidr, cidrContainsIp, interfaceAddress, parseCidr } from '../../net/cidr.ts';
import { parsePortKey } from '../../net/ids.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import { macFromIp, parseMac } from '../../net/mac.ts';
import { netConf } from '../testing/objects.ts';
import { AddressLedger } from './address-ledger.ts';
import type { Port } from './port.ts';

const layer2 = (fields: Record<string, unknown>): Network => {
  const conf = parseNetConf(JSON.stringify(netConf('ns/n', 'net', fields)), { namespace: 'ns', name: 'n' });
  return networkOfNetConf(conf!, parseClusterConfig());
};

const SUBNET = parseCidr('10.20.0.0/27');

/** Ports 0–3 are their own, 4–7 of two claims, 8–9 of one machine. */
const portOf = (n: number): Port => {
  const id = `port-${n}`;
  if (n < 4) return { id, owner: id, machine: id };
  if (n < 8) return { id, owner: `claim-${n % 2}`, machine: id, isKept: true };
  return { id, owner: 'machine', machine: 'machine' };
};

const port = fc.integer({ min: 0, max: 9 }).map(portOf);
const claim = fc.integer({ min: 0, max: 1 }).map((n) => `claim-${n}`);
const ip = fc.integer({ min: 0, max: 31 }).map((offset) => addressAt(SUBNET, offset));
const mac = fc.integer({ min: 1, max: 3 }).map((n) => parseMac(`02:00:00:00:00:0${n}`));
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('assign' as const), port }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ask' as const), port, ip, mac }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), port }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('recover' as const), port, ip, key: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('keep' as const), claim, ip }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unkeep' as const), claim }) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const run = (ledger: AddressLedger, one: Step): void => {
  const held = (address: Ip) => [interfaceAddress(address, 27)];
  switch (one.kind) {
    case 'assign':
      ledger.assign(one.port);
      break;
    case 'ask':
      ledger.assign(one.port, { ips: [one.ip], mac: one.mac });
      break;
    case 'release':
      ledger.release(one.port.id);
      break;
    case 'recover':
      ledger.recover(one.port, { addresses: held(one.ip), mac: macFromIp(one.ip), tunnelId: parsePortKey(one.key) });
      break;
    case 'keep':
      ledger.keep(one.claim, held(one.ip));
      break;
    case 'unkeep':
      ledger.unkeep(one.claim);
  }
};

/** Who has each address: owners, not ports, for several ports may have what is their owner's. */
const holders = (ledger: AddressLedger): Map<Ip, Set<string>> => {
  const byIp = new Map<Ip, Set<string>>();
  const owners = new Set([...ledger.kept(), ...ledger.ports().map(({ owner }) => owner)]);
  for (const owner of owners) {
    for (const address of ledger.addressesOf(owner) ?? []) {
      byIp.set(addressOf(address), (byIp.get(addressOf(address)) ?? new Set()).add(owner));
    }
  }
  return byIp;
};

const expectInvariants = (ledger: AddressLedger): void => {
  for (const [address, owners] of holders(ledger)) expect([address, [...owners]]).toEqual([address, [[...owners][0]]]);
  const ports = ledger.ports().map((one) => ({ ...one, held: ledger.held(one.id) }));
  const keys = ports.flatMap(({ held }) => held.tunnelId ?? []);
  expect(new Set(keys).size).toBe(keys.length);
  const machines = new Map<string, string>();
  for (const { machine, held } of ports) {
    if (held.mac === undefined) continue;
    expect(machines.get(held.mac) ?? machine).toBe(machine);
    machines.set(held.mac, machine);
  }
  const used = ledger.usage().reduce((sum, one) => sum + one.used, 0);
  expect(used).toBe(holders(ledger).size);
};

describe('addresses that are shared', () => {
  it('have one owner, a port each its own tunnel id, a machine its own MAC, whatever happens', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const ledger = new AddressLedger(layer2({ subnets: SUBNET }));
        const kept = new Map<string, string | undefined>();
        const given = new Map<string, unknown>();
        for (const one of steps) {
          try {
            run(ledger, one);
          } catch (error) {
            expect(error).toMatchObject({ name: 'AllocationError' });
          }
          expectInvariants(ledger);
          // What a claim has stays the same until the claim goes; it may get what it was refused.
          if (one.kind === 'unkeep') kept.delete(one.claim);
          for (const [owner, before = ''] of kept) {
            if (before !== '') expect([owner, ledger.addressesOf(owner)?.join()]).toEqual([owner, before]);
          }
          // So does what a port has.
          if (one.kind === 'release' || one.kind === 'recover') given.delete(one.port.id);
          for (const [id, allocation] of given) expect([id, ledger.get(id)]).toEqual([id, allocation]);
          for (const { id } of ledger.ports()) if (ledger.get(id) !== undefined) given.set(id, ledger.get(id));
          for (const owner of ledger.kept()) kept.set(owner, ledger.addressesOf(owner)?.join());
        }
        for (const { id } of ledger.ports()) ledger.release(id);
        for (const owner of ledger.kept()) ledger.unkeep(owner);
        expect([ledger.size, ledger.usage()[0]?.used]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a network's own addresses", () => {
  const part = fc
    .record({ length: fc.integer({ min: 28, max: 32 }), index: fc.integer({ min: 0, max: 15 }) })
    .map(({ length, index }) => {
      const size = 2 ** (32 - length);
      return parseCidr(`10.20.0.${(index % (32 / size)) * size}/${length}`);
    });
  const parts = fc.array(part, { maxLength: 3 });
  const host = fc.integer({ min: 1, max: 30 }).map((offset) => addressAt(SUBNET, offset));

  const overlap = (a: readonly Cidr[], b: readonly Cidr[]): boolean =>
    a.some((one) => b.some((two) => cidrContainsIp(one, addressOf(two)) || cidrContainsIp(two, addressOf(one))));

  it('and what is excluded go to no pod, what is reserved only to who asks, and all else to the pods', () => {
    const config = fc.record({ excluded: parts, reserved: parts, infrastructure: parts, gateway: fc.option(host) });
    fc.assert(
      fc.property(config, ({ excluded, reserved, infrastructure, gateway }) => {
        fc.pre(!overlap(infrastructure, reserved));
        const inside = infrastructure.find((cidr) => gateway !== null && cidrContainsIp(cidr, gateway));
        fc.pre(gateway === null || infrastructure.length === 0 || inside !== undefined);
        const all = Array.from({ length: 32 }, (_, offset) => addressAt(SUBNET, offset));
        const isApart = (address: Ip): boolean =>
          ['10.20.0.0', '10.20.0.31'].includes(address) ||
          [...excluded, ...infrastructure].some((cidr) => cidrContainsIp(cidr, address));
        // Room for more than the gateway and the management port: without any, the network is refused.
        fc.pre(all.filter((address) => !isApart(address)).length > 2);
        const network = layer2({
          subnets: SUBNET,
          excludeSubnets: excluded.join(),
          reservedSubnets: reserved.join(),
          infrastructureSubnets: infrastructure.join(),
          ...(gateway !== null && { defaultGatewayIPs: gateway }),
        });
        const own = [gatewayIp(network, SUBNET), managementIp(network, SUBNET)];
        expect(own[0]).not.toBe(own[1]);
        const isForbidden = (address: Ip): boolean => own.includes(address) || isApart(address);
        const allowed = all.filter((address) => !isForbidden(address));
        const free = allowed.filter((address) => !reserved.some((cidr) => cidrContainsIp(cidr, address)));

        const ledger = new AddressLedger(network);
        const given = free.map((_, n) => addressOf(ledger.assign(portNamed(`p${n}`)).addresses[0]!));
        expect(given.map(String).sort()).toEqual(free.map(String).sort());
        expect(() => ledger.assign(portNamed('late'))).toThrow('has no free address left');

        const asked = new AddressLedger(network);
        for (const address of all) {
          const ask = () => asked.assign(portNamed(address), { ips: [parseIp(address)] });
          if (isForbidden(address)) expect(ask).toThrow(`requested address ${address} is not available to pods: it is`);
          else expect(addressOf(ask().addresses[0]!)).toBe(address);
        }
      }),
      { numRuns: 200 },
    );
  });
});

const portNamed = (id: string): Port => ({ id, owner: id, machine: id });
