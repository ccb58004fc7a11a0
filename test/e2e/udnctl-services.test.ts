/** udnctl says what becomes of what is sent to Services, and what a node has for them. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { ask, askFrom, type RunThere, type Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { pod } from './support/cluster/manifests.ts';
import { TENANTS, type Tenant, tenantManifests } from './support/cluster/one-of-each.ts';
import { type Said, udnctl } from './support/cluster/udnctl.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { addressesOf } from './support/packets/packets.ts';
import {
  addressTargets,
  entryPointsOf,
  fromHost,
  fromOutside,
  fromPod,
  nodePortTargets,
  publicService,
  routeBy,
} from './support/services/entry-points.ts';
import { backend, clusterIps, handMadeSlice, service } from './support/services/services.ts';

const NODE = 'node-1';
const cluster = useCluster({ name: 'test-udnctl-services', ipFamily: 'dual' });

/** With node ports and external addresses; `external-local` has no endpoint where it is asked, and `external-empty` none at all. */
const PUBLIC = ['external', 'external-local', 'external-empty', 'external-far'] as const;
type Public = (typeof PUBLIC)[number];
const APPS: Readonly<Record<Public, string>> = {
  external: 'both',
  'external-local': 'far',
  'external-empty': 'empty',
  'external-far': 'far',
};
const POLICIES: Readonly<Partial<Record<Public, Readonly<Record<string, unknown>>>>> = {
  'external-local': { externalTrafficPolicy: 'Local' },
};
const entryPointsAt = (tenant: Tenant, name: Public) =>
  entryPointsOf(1 + 10 * TENANTS.indexOf(tenant) + PUBLIC.indexOf(name));

/** Services with an endpoint on the same node, on both, and on none; `far` is behind public ones. */
const manifestsOf = (tenant: Tenant) => [
  ...['near', 'both', 'empty'].map((name) => service(tenant, name, { app: name })),
  ...PUBLIC.map((name) => publicService(tenant, name, APPS[name], entryPointsAt(tenant, name), POLICIES[name])),
  backend(tenant, 'near-1', NODE, 'near'),
  backend(tenant, 'far-1', 'node-2', 'far'),
  backend(tenant, 'both-1', NODE, 'both'),
  backend(tenant, 'both-2', 'node-2', 'both'),
  pod(tenant, 'client', NODE),
];

beforeAll(async () => {
  await applyAndWait(cluster(), [...tenantManifests(), ...TENANTS.flatMap(manifestsOf)]);
  for (const tenant of TENANTS) for (const name of PUBLIC) await routeBy(cluster(), NODE, entryPointsAt(tenant, name));
}, 120_000);

const run = (...args: readonly string[]): Promise<Said> => udnctl(cluster(), NODE, ...args);

const logical = z.object({ kind: z.string(), agrees: z.boolean().optional() });
const traced = z.object({
  result: z.string(),
  message: z.string(),
  service: z.object({ namespace: z.string(), name: z.string(), loadBalancer: z.string().optional() }),
  endpoints: z.array(
    z.object({
      endpoint: z.string(),
      node: z.string(),
      openVswitch: z.object({ kind: z.string(), message: z.string() }),
      logical: logical.optional(),
    }),
  ),
  logical: logical.optional(),
  host: z.object({ why: z.string().optional() }).optional(),
});
const trace = async (...args: readonly string[]) =>
  traced.parse(JSON.parse((await run('trace', ...args, '-o', 'json')).stdout));
const fromClient = (tenant: string, to: string, ...more: readonly string[]) =>
  trace('--from', 'pod', `${tenant}/client`, '--to', to, ...more);

describe.each(TENANTS)('a trace of a pod of %s to a Service of its network', (tenant) => {
  it.each(['4', '6'])('goes to each endpoint, IPv%s', async (family) => {
    for (const port of ['http', 'dns']) {
      await eventually(async () => {
        const found = await fromClient(tenant, `service/${tenant}/both:${port}`, '--ip-family', family);
        expect(found).toMatchObject({ result: 'answered', service: { namespace: tenant, name: 'both' } });
        expect(
          found.endpoints
            .map((one) => ({ kind: one.openVswitch.kind, node: one.node, logical: one.logical?.kind }))
            .toSorted((a, b) => (a.node < b.node ? -1 : 1)),
        ).toEqual([
          { kind: 'delivered', node: NODE, logical: 'port' },
          { kind: 'tunnel', node: 'node-2', logical: 'remote' },
        ]);
        expect(found.endpoints.every((one) => one.logical?.agrees === true)).toBe(true);
      });
    }
  });

  it('is refused where there is no endpoint, as packets are', async () => {
    for (const port of ['http', 'dns']) {
      const found = await fromClient(tenant, `service/${tenant}/empty:${port}`);
      expect(found).toMatchObject({ result: 'refused', endpoints: [], logical: { kind: 'refused', agrees: true } });
      expect(found.message).toMatch(/^refused with (a TCP reset|an ICMP error): load balancer /);
    }
    const [ip = ''] = await clusterIps(cluster(), `${tenant}/empty`);
    const attempts = await ask(cluster(), `${tenant}/client`, [{ ip, port: 80, protocol: 'TCP' }]);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['refused']);
  });

  it('is not answered by a Service of another network', async () => {
    for (const other of TENANTS.filter((one) => one !== tenant)) {
      const [ip = ''] = await clusterIps(cluster(), `${other}/near`);
      const found = await fromClient(tenant, ip);
      expect(found).toMatchObject({ result: 'not-answered', service: { namespace: other, name: 'near' } });
      expect(found.message).toMatch(/whose load balancers serve that network only; the packet is in network \S+$/);
    }
  });

  it('is not answered on a port that the Service has not', async () => {
    const [ip = ''] = await clusterIps(cluster(), `${tenant}/near`);
    expect((await fromClient(tenant, ip, '--port', '81')).message).toBe(
      `not answered: Service ${tenant}/near has no port 81/tcp; it has 80/tcp (http), 53/udp (dns)`,
    );
  });
});

it('a trace to a Service that keeps its clients says that their first packet is lost', async () => {
  const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } };
  await (await cluster().objects()).apply([service('red', 'sticky', { app: 'both', spec })]);
  await eventually(async () => {
    const { result, message } = await fromClient('red', 'service/red/sticky');
    expect(message).toMatch(/^answered by Service red\/sticky, but for the first packet, which OVN drops /);
    expect(result).toBe('answered');
  });
});

describe('a trace of the host', () => {
  it.each(['4', '6'])('goes to each endpoint of a Service of the default network, IPv%s', async (family) => {
    const found = await trace('--from', 'host', '--to', 'service/plain/both', '--ip-family', family);
    expect(found.result).toBe('answered');
    expect(found.endpoints.map((one) => one.openVswitch.kind).toSorted()).toEqual(['delivered', 'tunnel']);
    expect(found.endpoints.every((one) => one.logical?.agrees === true)).toBe(true);
  });
});

/** On `NODE`, over TCP and IPv4 first. External addresses without those that load balancers give. */
const targetsOf = (tenant: Tenant, name: Public): Target[] => {
  const entryPoints = entryPointsAt(tenant, name);
  return [...nodePortTargets(NODE, entryPoints), ...addressTargets({ ...entryPoints, ingress: [] })];
};
/** A node port over IPv4, and an external address over IPv6: each trace takes a second. */
const someOf = (targets: readonly Target[]): Target[] =>
  targets.filter(({ ip, protocol }) => (protocol === 'TCP' ? ip === nodeAddress(NODE, 4) : ip.startsWith('2001:db8')));
const traceTo = (from: readonly string[], { ip, port, protocol }: Target) =>
  trace('--from', ...from, '--to', ip, '--port', String(port), '--proto', protocol.toLowerCase());
const outcomesOf = async (run: RunThere, targets: readonly Target[]): Promise<string[]> =>
  (await askFrom(run, targets)).map(({ outcome }) => outcome);

describe.each(TENANTS)('a trace from outside to a Service of %s', (tenant) => {
  /** At the node's own address gateway routers ask conntrack first, and ovn-trace 25.03 ends there. */
  const agreed = ({ ip }: Target): true | undefined => (ip === nodeAddress(NODE, 4) ? undefined : true);

  it('goes to each endpoint, by node ports and external addresses, and packets do', async () => {
    const targets = targetsOf(tenant, 'external');
    for (const target of someOf(targets)) {
      const found = await traceTo(['outside'], target);
      expect(found).toMatchObject({ result: 'answered', service: { namespace: tenant, name: 'external' } });
      expect(found.endpoints.map((one) => one.openVswitch.kind).toSorted()).toEqual(['delivered', 'tunnel']);
      expect(found.endpoints.map((one) => one.logical?.agrees)).toEqual([agreed(target), agreed(target)]);
    }
    await eventually(async () =>
      expect(await outcomesOf(fromOutside(cluster()), targets)).toEqual(targets.map(() => 'answered')),
    );
  });

  it.each(['external-local', 'external-empty'] as const)(
    'is refused where %s has no endpoint, as packets are',
    async (name) => {
      const targets = targetsOf(tenant, name);
      for (const target of someOf(targets)) {
        expect(await traceTo(['outside'], target)).toMatchObject({
          ...{ result: 'refused', service: { namespace: tenant, name }, endpoints: [] },
          ...(agreed(target) && { logical: { kind: 'refused', agrees: true } }),
        });
      }
      await eventually(async () =>
        expect(await outcomesOf(fromOutside(cluster()), targets)).toEqual(targets.map(() => 'refused')),
      );
    },
  );
});

describe('a trace to node ports and external addresses', () => {
  const targets = targetsOf('plain', 'external');

  it('of the host is what nftables make of it, and packets are answered', async () => {
    for (const target of someOf(targets)) {
      const found = await traceTo(['host'], target);
      expect(found).toMatchObject({ result: 'answered', service: { namespace: 'plain', name: 'external' } });
      expect(found.host?.why).toMatch(/^nftables translate \S+ to \S+$/);
      expect(found.endpoints.map((one) => one.openVswitch.kind).toSorted()).toEqual(['delivered', 'tunnel']);
    }
    await eventually(async () =>
      expect(await outcomesOf(fromHost(cluster(), NODE), targets)).toEqual(targets.map(() => 'answered')),
    );
  });

  it('of the host to a tenant’s Service says whether the host has a way to it, as packets do', async () => {
    for (const target of someOf(targetsOf('red', 'external'))) {
      const found = await traceTo(['host'], target);
      const [attempt] = await askFrom(fromHost(cluster(), NODE), [target]);
      expect(found.result === 'answered').toBe(attempt?.outcome === 'answered');
      if (found.result !== 'answered') expect(found.message).toMatch(/no rule for it to the VRF of network red_net$/);
    }
  });

  it('of a tenant’s pod to another network follows it there, and packets are answered', async () => {
    const externalOf = (name: Public): Target[] =>
      targetsOf('plain', name).slice(nodePortTargets(NODE, entryPointsAt('plain', name)).length);
    // An endpoint on the same node is too far for the userspace datapath (docs/services.md, "What does not work yet").
    const far = externalOf('external-far');
    await eventually(async () =>
      expect(await outcomesOf(fromPod(cluster(), 'red/client'), far)).toEqual(far.map(() => 'answered')),
    );
    for (const [name, kinds] of [
      ['external-far', ['tunnel']],
      ['external', ['delivered', 'tunnel']],
    ] as const) {
      for (const target of someOf(externalOf(name))) {
        const found = await traceTo(['pod', 'red/client'], target);
        expect(found).toMatchObject({ result: 'answered', service: { namespace: 'plain', name } });
        expect(found.endpoints.map((one) => one.openVswitch.kind).toSorted()).toEqual(kinds);
      }
    }
  });

  it('of nobody goes to the host', async () => {
    const { stdout } = await run(
      'trace',
      '--from',
      'outside',
      '--to',
      nodeAddress(NODE, 4),
      '--port',
      '30999',
      '-o',
      'json',
    );
    expect(JSON.parse(stdout)).toMatchObject({ result: 'host' });
  });
});

it('a trace to a Service says what is wrong with the question', async () => {
  const ask = async (...args: readonly string[]) => await run('trace', '--from', 'pod', 'red/client', ...args);
  expect(await ask('--to', 'service/red/none')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('red/none'),
  });
  expect(await ask('--to', 'service/red/near:81')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('has no port 81'),
  });
  expect(await ask('--to', 'service/red/near', '--established')).toMatchObject({ status: 2 });
});

const explanation = z.object({
  ok: z.boolean(),
  checks: z.array(z.object({ what: z.string(), state: z.enum(['ok', 'missing', 'unknown']), found: z.string() })),
});

const explain = async (key: string) => {
  const { stdout, status } = await run('explain', 'service', key, '-o', 'json');
  return { status, ...explanation.parse(JSON.parse(stdout)) };
};

describe('explain', () => {
  it.each(TENANTS)('finds all that a Service of %s has on a node', async (tenant) => {
    const { status, checks } = await explain(`${tenant}/both`);
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(status).toBe(0);
    const [ip = ''] = await clusterIps(cluster(), `${tenant}/both`);
    const place = checks.find(({ what }) => what === `${ip}:80/tcp`)?.found;
    expect(place).toMatch(/^\S+:8080 on node-\d \(both-ipv4-\S+\), \S+:8080 on node-\d \(both-ipv4-\S+\)$/);
    const forHostPods = checks.find(({ what }) => what === `nftables ${ip}`)?.found;
    expect(forHostPods).toBe(tenant === 'plain' ? undefined : 'udn-cluster-ips-v4');
  });

  it.each(TENANTS)(
    'has what of a Service of %s is on the gateway bridge and in nftables, and what came by it',
    async (tenant) => {
      const [target] = targetsOf(tenant, 'external');
      if (target === undefined) throw new Error('it has no node port');
      const { ip, port } = target;
      const found = async (what: string) =>
        (await explain(`${tenant}/external`)).checks.find((one) => one.what === what);
      const cameBy = async (): Promise<number> =>
        Number(
          /^table 26 priority 10 \(([0-9]+) packets\)/.exec((await found(`br-ex ${ip}:${port}/tcp`))?.found ?? '')?.[1],
        );
      const before = await cameBy();
      await askFrom(fromOutside(cluster()), [target]);
      await eventually(async () => expect(await cameBy()).toBeGreaterThan(before));
      const [clusterIp = ''] = await clusterIps(cluster(), `${tenant}/external`);
      expect((await found(`nftables tcp . ${port}`))?.found).toContain(`nodeports-v4 → ${clusterIp} . 80, `);
      const { status, checks } = await explain(`${tenant}/external`);
      expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
      expect(status).toBe(0);
    },
  );

  it('says which endpoints are left out, and why', async () => {
    const [stranger = ''] = addressesOf(await readPod(cluster(), 'green/near-1'));
    const [own = ''] = addressesOf(await readPod(cluster(), 'red/near-1'));
    await (await cluster().objects()).apply([
      service('red', 'by-hand', {}),
      handMadeSlice('red', 'by-hand-1', 'by-hand', [own, stranger]),
    ]);
    await eventually(async () => {
      const { checks } = await explain('red/by-hand');
      const out = checks.find(({ what }) => what === 'left out');
      expect(out?.found).toBe(`${stranger}:8080, ${stranger}:8081: not an endpoint address of network red_net`);
      expect(checks.find(({ what }) => what === 'slice by-hand-1')?.found).toMatch(/^by hand; IPv4, /);
    });
  });

  it('of a Service that the node does not know says so', async () =>
    expect(await explain('red/none')).toMatchObject({ status: 1, checks: [{ what: 'agent', state: 'missing' }] }));
});

describe('check', () => {
  const ON_NODE = 'warning: kube-proxy, on this node: ';
  const printed = async () => (await run('check')).stdout.split('\n').filter((line) => line.startsWith(ON_NODE));
  const nft = (...commands: readonly string[]) => cluster().node(NODE, ['nft', commands.join('; ')]);

  it('says nothing of a node without kube-proxy', async () => expect(await printed()).toEqual([]));

  it.each([
    ['ip kube-proxy', 'services', 'nftables table ip kube-proxy'],
    ['ip nat', 'KUBE-SERVICES', 'chain KUBE-SERVICES in table ip nat'],
  ])('finds table %s with chain %s', async (table, chain, found) => {
    await nft(`add table ${table}`, `add chain ${table} ${chain}`);
    expect(await printed()).toEqual([expect.stringContaining(`${ON_NODE}it has ${found}: `)]);
    await nft(`delete table ${table}`);
    expect(await printed()).toEqual([]);
  });

  it('finds a program of that name', async () => {
    const running = cluster().node(NODE, [
      'sh',
      '-c',
      'cp /bin/sleep /tmp/kube-proxy && /tmp/kube-proxy 5; rm /tmp/kube-proxy',
    ]);
    await eventually(async () => expect(await printed()).toEqual([expect.stringContaining(`${ON_NODE}it runs: `)]));
    await running;
  });
});
