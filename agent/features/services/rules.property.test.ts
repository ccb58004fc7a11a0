/** What holds for every Service, whatever it and its slices say. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cidrContainsIp, parseCidr } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { chooseEndpoints, type Target } from '../../model/services/choice.ts';
import type { EndpointInput, ServiceInput, SliceInput } from '../../testing/cluster.ts';
import { serviceCluster } from '../../testing/service-cluster.ts';

const names = (all: readonly string[]) => fc.option(fc.subarray([...all], { minLength: 1 }), { nil: undefined });
const endpoint = (ips: readonly string[]): fc.Arbitrary<EndpointInput> =>
  fc
    .record({
      ip: fc.constantFrom(...ips),
      node: fc.constantFrom('node1', 'node2', undefined),
      forZones: names(['east', 'west']),
      forNodes: names(['node1', 'node2']),
    })
    .map(({ ip, node, forZones, forNodes }) => ({
      ip,
      ...(node && { node }),
      ...(forZones && { forZones }),
      ...(forNodes && { forNodes }),
    }));
const V4 = ['10.70.0.5', '10.70.2.5', '10.128.0.5', '10.128.2.5', '172.30.0.2', '172.30.0.3', '169.254.0.2'];
const V6 = ['fd00:70::5', 'fd00:172::2', 'fd98::2'];
const slice: fc.Arbitrary<SliceInput> = fc
  .record({ family: fc.constantFrom(4 as const, 6 as const), ports: fc.subarray(['a:TCP/1', 'b:UDP/2']) })
  .chain(({ family, ports }) => {
    const some = fc.array(endpoint(family === 4 ? V4 : V6), { maxLength: 4 });
    return fc.record({ family: fc.constant(family), ports: fc.constant(ports), ready: some, terminating: some });
  });
const policy = fc.constantFrom('Cluster' as const, 'Local' as const);
const service = (ips: readonly string[]): fc.Arbitrary<ServiceInput> =>
  fc.record({
    ips: fc.constantFrom(ips, ips.slice(0, 1)),
    ports: fc.constantFrom(['a:TCP/80@30080', 'b:UDP/80@30080'], ['a:TCP/30080'], ['a:TCP/80', 'b:UDP/80']),
    externalIps: fc.subarray(['192.0.2.1', '172.30.0.2', '2001:db8::1', '172.16.1.9', '10.128.0.5']),
    loadBalancerIps: fc.subarray(['192.0.2.1', '192.0.2.2']),
    externalTrafficPolicy: policy,
    internalTrafficPolicy: policy,
    createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
  });

type Row = Readonly<Record<string, unknown>>;
const all = (value: unknown): string[] => (value === undefined ? [] : [value].flat().map(String));

/** `protocol address:port` of everything that a switch or router answers, by its name; with each one's Service. */
const answered = (
  northbound: Readonly<Record<string, readonly Row[]>>,
): Map<string, [vip: string, owner: string][]> => {
  const rows = (table: string): readonly Row[] => northbound[table] ?? [];
  const balancers = new Map(rows('Load_Balancer').map((row) => [`Load_Balancer/${row['name']}`, row]));
  const groups = new Map(rows('Load_Balancer_Group').map((row) => [`Load_Balancer_Group/${row['name']}`, row]));
  const here = (row: Row): string[] => [
    ...all(row['load_balancer']),
    ...all(row['load_balancer_group']).flatMap((group) => all(groups.get(group)?.['load_balancer'])),
  ];
  const vips = (key: string): [string, string][] => {
    const { vips: own, protocol, external_ids: ids } = Object(balancers.get(key));
    return Object.keys(Object(own)).map((vip) => [`${protocol} ${vip}`, Object(ids)['k8s.ovn.org/owner']]);
  };
  return new Map(
    [...rows('Logical_Switch'), ...rows('Logical_Router')].map((row) => [String(row['name']), here(row).flatMap(vips)]),
  );
};

it('no address and port is answered twice on a switch or router, and none outside by two Services', () => {
  const two = fc.record({
    plain: service(['172.16.1.7', 'fd00:10:96::7']),
    red: service(['172.16.1.8', 'fd00:10:96::8']),
    slices: fc.array(slice, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(two, ({ plain, red, slices }) => {
      const it = serviceCluster().service('plain/web', plain).service('red/web', red);
      it.slices('plain/web', ...slices).slices('red/web', ...slices);
      const { northbound } = it.render();
      const owners = new Map<string, string>();
      for (const [, found] of answered(northbound)) {
        expect(new Set(found.map(([vip]) => vip)).size).toBe(found.length);
        for (const [vip, owner] of found.filter(([one]) => !one.includes('169.254.0.3') && !one.includes('fd69::3'))) {
          expect(owners.get(vip) ?? owner, vip).toBe(owner);
          owners.set(vip, owner);
        }
      }
      expect(owners.size).toBeGreaterThan(1);
    }),
    { numRuns: 150 },
  );
});

it('a tenant’s load balancers send to its own network, and none to what is reserved', () => {
  const own = ['10.70.0.0/16', 'fd00:70::/48'].map(parseCidr);
  const input = fc.record({
    service: service(['172.16.1.8', 'fd00:10:96::8']),
    slices: fc.array(slice, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(input, ({ service: asked, slices }) => {
      const it = serviceCluster()
        .service('red/web', asked)
        .slices('red/web', ...slices);
      const targets = (it.render().northbound['Load_Balancer'] ?? []).flatMap(({ vips }) =>
        Object.values(Object(vips)).flatMap((text) => String(text).split(',')),
      );
      for (const target of targets.filter((text) => text !== '')) {
        const ip = parseIp(target.replace(/:[0-9]+$/, '').replace(/[[\]]/g, ''));
        expect(
          own.some((cidr) => cidrContainsIp(cidr, ip)),
          target,
        ).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});

/** As Kubernetes' documentation of virtual IPs puts it, step by step. */
const expectedFor = (ready: readonly Target[], terminating: readonly Target[]): readonly Target[] => {
  if (ready.length === 0) return terminating;
  const nodes = ready.map(({ endpoint: one }) => one.forNodes);
  const zones = ready.map(({ endpoint: one }) => one.forZones);
  if (nodes.every((one) => one !== undefined) && nodes.some((one) => one?.includes('node1'))) {
    return ready.filter(({ endpoint: one }) => one.forNodes?.includes('node1'));
  }
  if (zones.every((one) => one !== undefined) && zones.some((one) => one?.includes('east'))) {
    return ready.filter(({ endpoint: one }) => one.forZones?.includes('east'));
  }
  return ready;
};

it('endpoints are chosen as kube-proxy chooses them, and somebody is chosen whenever there is anybody', () => {
  const targets = fc.array(
    endpoint(V4).map((one): Target => ({ endpoint: one as Target['endpoint'], port: 80 })),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(targets, targets, (ready, terminating) => {
      const { cluster: chosen, local } = chooseEndpoints({ ready, terminating }, { name: 'node1', zone: 'east' });
      expect(chosen).toEqual(expectedFor(ready, terminating));
      expect(chosen.length === 0).toBe(ready.length + terminating.length === 0);
      const here = (some: readonly Target[]) => some.filter(({ endpoint: one }) => one.node === 'node1');
      expect(local).toEqual(here(ready).length > 0 ? here(ready) : here(terminating));
    }),
  );
});
