/**
 * Slices that say what cannot be or must not be, and Services of networks that are broken or go: none is a way into another
 * network, and all others go on. Needs root and `make build`. What stands in rows of single addresses is in the unit tests of
 * `agent/features/services`, addresses that somebody else has written down also in services.test.ts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { ask } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, pod } from './support/cluster/manifests.ts';
import { TENANTS, type Tenant, tenantManifests } from './support/cluster/one-of-each.ts';
import { nodeAddress, outside } from './support/networks/north-south.ts';
import { addressesOf, addressOfFamily } from './support/packets/packets.ts';
import {
  answeredBy,
  entryPointsOf,
  fromOutside,
  nodePortTargets,
  publicService,
  whoAnswers,
} from './support/services/entry-points.ts';
import { expectAnswersAt, expectRefusedAt, whoAnswered } from './support/services/expectations.ts';
import { backend, SERVED, service, targetsOf } from './support/services/services.ts';
import { expectNoDifference } from './support/state/no-difference.ts';
import { rowsNaming } from './support/state/rows.ts';

const cluster = useCluster({ name: 'test-bad-services', ipFamily: 'dual' });

const NODES = ['node-1', 'node-2'] as const;
const client = (tenant: string): string => `${tenant}/${tenant}-client`;
const web = (tenant: string): string => `${tenant}-web`;

beforeAll(async () => {
  await applyAndWait(cluster(), [
    ...tenantManifests(),
    ...TENANTS.flatMap((tenant) => [
      pod(tenant, `${tenant}-client`, 'node-1'),
      backend(tenant, web(tenant), 'node-2', 'web'),
      service(tenant, 'good', { app: 'web' }),
    ]),
  ]);
}, 120_000);

/** Of all networks, by their good Services; and nothing is left to be written. */
const expectOthersGoOn = async (): Promise<void> => {
  const good = TENANTS.map(async (tenant) =>
    expectAnswersAt(cluster(), client(tenant), await targetsOf(cluster(), `${tenant}/good`), [web(tenant)]),
  );
  await Promise.all([...good, expectNoDifference(cluster(), NODES)]);
};

/** What an API server may be made to hold: nothing is left out that somebody could write. */
const slice = (
  tenant: string,
  name: string,
  of: string,
  spec: { readonly type: 4 | 6; readonly addresses: readonly string[]; readonly ports?: unknown },
): ManifestObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: tenant, name, labels: { 'kubernetes.io/service-name': of } },
  addressType: `IPv${spec.type}`,
  endpoints: spec.addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports: spec.ports ?? [
    { name: 'http', protocol: 'TCP', port: SERVED.TCP },
    { name: 'dns', protocol: 'UDP', port: SERVED.UDP },
  ],
});

/** An API server that refuses it is right, too. */
const tryToApply = async (manifests: readonly ManifestObject[]): Promise<void> => {
  const objects = await cluster().objects();
  for (const manifest of manifests) {
    await objects.apply([manifest]).catch((error: unknown) => expect(String(error)).toMatch(/[Ii]nvalid|422/));
  }
};

const remove = async (manifests: readonly ManifestObject[]): Promise<void> => {
  await (await cluster().objects()).delete(manifests, { timeoutSeconds: 30 });
};

const addressOf = async (key: string, family: 4 | 6): Promise<string> =>
  addressOfFamily(await readPod(cluster(), key), family);

/** On the default network, which tenants' pods have besides. */
const infrastructureAddress = async (key: string): Promise<string> =>
  String(addressesOf(await readPod(cluster(), key), 'infrastructure-locked')[0]);

describe.each(TENANTS)('slices of %s', (tenant) => {
  const key = `${tenant}/odd`;
  const own = (family: 4 | 6): Promise<string> => addressOf(`${tenant}/${web(tenant)}`, family);

  it('of the wrong family, with an address many times, and with text for addresses: what is right is used', async () => {
    const [four, six] = [await own(4), await own(6)];
    const manifests = [
      slice(tenant, 'odd-1', 'odd', { type: 4, addresses: [four, six, four] }),
      slice(tenant, 'odd-2', 'odd', { type: 6, addresses: [six, four, '::ffff:10.0.0.1'] }),
      slice(tenant, 'odd-3', 'odd', { type: 4, addresses: [four, '10.76.0', '', '10.76.0.3/16', '0x0a4c0003'] }),
    ];
    await applyAndWait(cluster(), [service(tenant, 'odd', {})]);
    await tryToApply(manifests);
    await expectAnswersAt(cluster(), client(tenant), await targetsOf(cluster(), key), [web(tenant)]);
    await expectOthersGoOn();
    await remove([service(tenant, 'odd', {}), ...manifests]);
  }, 60_000);

  it('with ports without names, without numbers and beyond all: the named ones of the Service are refused', async () => {
    const ports = [
      { protocol: 'TCP', port: SERVED.TCP },
      { name: 'http', protocol: 'TCP' },
      { name: 'http', protocol: 'TCP', port: 70_000 },
      { name: 'dns', protocol: 'UDP', port: -1 },
    ];
    const manifests = [
      service(tenant, 'odd', {}),
      slice(tenant, 'odd-1', 'odd', { type: 4, addresses: [await own(4)], ports }),
      slice(tenant, 'odd-2', 'odd', { type: 6, addresses: [await own(6)], ports: [] }),
    ];
    await tryToApply(manifests);
    await expectRefusedAt(cluster(), client(tenant), await targetsOf(cluster(), key));
    await expectOthersGoOn();
    await remove(manifests);
  }, 60_000);
});

describe('a slice that says where another network is', () => {
  /** Everything that is not the tenant's own: of other tenants, the default network, nodes, and what keeps networks apart. */
  const foreign = async (tenant: Tenant): Promise<string[]> => {
    const others = TENANTS.filter((one) => one !== tenant).map((one) => `${one}/${web(one)}`);
    const pods = await Promise.all(others.map((one) => addressOf(one, 4)));
    const infrastructure = await Promise.all(['red/red-web', 'green/green-web'].map(infrastructureAddress));
    const [other = ''] = others;
    const services = (await targetsOf(cluster(), other.replace(/\/.*/, '/good'))).map(({ ip }) => ip);
    return [
      ...infrastructure,
      ...services.filter((ip) => !ip.includes(':')),
      ...[
        '100.64.0.2',
        '100.65.0.2',
        '100.88.0.2',
        '169.254.0.1',
        '169.254.0.2',
        '169.254.0.12',
        '127.0.0.1',
        '224.0.0.1',
      ],
      // The default network's Services may send to other hosts and to nodes, and to no tenant there is a way from it.
      ...(tenant === 'plain' ? pods : [...pods, nodeAddress('node-1', 4), nodeAddress('node-2', 4), outside(4)]),
    ];
  };

  // Most of it is silence that is waited for: each tenant's own can be waited for beside the others'.
  it.concurrent.each(TENANTS)(
    'leads %s nowhere, one address or all',
    async (tenant) => {
      const right = await addressOf(`${tenant}/${web(tenant)}`, 4);
      const made = service(tenant, 'abroad', {});
      const { ports } = made['spec'] as { ports: object[] };
      const seen = { name: 'seen', protocol: 'TCP', port: 99 };
      await applyAndWait(cluster(), [{ ...made, spec: { ...(made['spec'] as object), ports: [...ports, seen] } }]);
      const targets = (await targetsOf(cluster(), `${tenant}/abroad`)).filter(({ ip }) => !ip.includes(':'));
      const addresses = await foreign(tenant);
      const tries = [...addresses.map((address) => [address]), addresses];
      for (const [index, these] of tries.entries()) {
        await tryToApply([slice(tenant, 'abroad-1', 'abroad', { type: 4, addresses: these })]);
        // Slices are seen in the order in which they are written: when the node has this one, it knows the other.
        const port = 20_000 + index;
        const last = slice(tenant, 'abroad-2', 'abroad', { type: 4, addresses: [right], ports: [{ ...seen, port }] });
        await applyAndWait(cluster(), [last]);
        await eventually(async () => expect(await rowsNaming(cluster(), 'node-1', `${right}:${port}`)).not.toEqual([]));
        await expectNoDifference(cluster(), ['node-1']);
        expect(whoAnswered(await ask(cluster(), client(tenant), targets)), these.join()).toEqual([]);
        // Nobody may listen there: OVN must not send there at all. From the default network ACLs keep what is sent away.
        const rows = (await rowsNaming(cluster(), 'node-1', `_${tenant}/abroad_`)).join('\n');
        expect(rows).toContain(`${right}:${port}`);
        if (tenant === 'plain') continue;
        for (const address of these) expect(rows).not.toContain(`${address}:${SERVED.TCP}`);
      }
      await tryToApply([
        slice(tenant, 'abroad-1', 'abroad', { type: 4, addresses: [...addresses.slice(0, 8), right] }),
      ]);
      if (tenant !== 'plain') await expectAnswersAt(cluster(), client(tenant), targets, [web(tenant)]);
      await remove([made, slice(tenant, 'abroad-1', 'abroad', { type: 4, addresses: [] })]);
      await expectOthersGoOn();
    },
    120_000,
  );
});

const vipsSchema = z.array(z.string());

it('a thousand endpoints are all there, and one is when the others have gone', async () => {
  const made = service('red', 'crowd', {});
  const crowd = Array.from(
    { length: 1000 },
    (_, index) => `10.76.${100 + Math.floor(index / 250)}.${1 + (index % 250)}`,
  );
  const right = await addressOf('red/red-web', 4);
  await applyAndWait(cluster(), [made, slice('red', 'crowd-1', 'crowd', { type: 4, addresses: crowd })]);
  const endpointsOn = async (node: string): Promise<number> => {
    const rows = vipsSchema.parse(await rowsNaming(cluster(), node, 'Service_red/crowd_TCP'));
    return Math.max(0, ...rows.map((row) => row.match(/10\.76\.\d+\.\d+:8080/g)?.length ?? 0));
  };
  for (const node of NODES) await eventually(async () => expect(await endpointsOn(node)).toBe(1000));
  await expectOthersGoOn();
  await applyAndWait(cluster(), [slice('red', 'crowd-1', 'crowd', { type: 4, addresses: [right] })]);
  const targets = (await targetsOf(cluster(), 'red/crowd')).filter(({ ip }) => !ip.includes(':'));
  await expectAnswersAt(cluster(), client('red'), targets, ['red-web']);
  await remove([made, slice('red', 'crowd-1', 'crowd', { type: 4, addresses: [] })]);
}, 60_000);

describe('a Service whose network', () => {
  const entryPoints = { ...entryPointsOf(80), externalIps: [], ingress: [] };
  const made = publicService('odd', 'web', 'web', entryPoints);
  const targets = nodePortTargets('node-1', entryPoints);
  const network = layer3('odd', 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64']);

  const expectNowhere = async (): Promise<void> => {
    for (const node of NODES) {
      await eventually(async () => expect(await rowsNaming(cluster(), node, '"odd/web"')).toEqual([]));
    }
    const answers = await whoAnswers(fromOutside(cluster()), targets);
    expect(answers.filter((line) => !/ → \((refused|silent)\)$/.test(line))).toEqual([]);
    await expectOthersGoOn();
  };
  const expectThere = async (): Promise<void> => {
    await applyAndWait(cluster(), [backend('odd', 'odd-web', 'node-2', 'web'), pod('odd', 'odd-client', 'node-1')]);
    await expectAnswersAt(cluster(), 'odd/odd-client', await targetsOf(cluster(), 'odd/web'), ['odd-web']);
    await eventually(async () =>
      expect(await whoAnswers(fromOutside(cluster()), targets)).toEqual(answeredBy(targets, ['odd-web'])),
    );
  };

  it('cannot be is nowhere, and works when the network is mended; gone with the network, back with the next', async () => {
    const broken = layer3('odd', 'net', ['10.96.0.0/12/24']);
    await tryToApply([namespace('odd'), broken, made]);
    await expectNowhere();
    await remove([broken]);
    await applyAndWait(cluster(), [network]);
    await expectThere();
    await deletePods(cluster(), 'odd/odd-web', 'odd/odd-client');
    await remove([network]);
    await expectNowhere();
    await applyAndWait(cluster(), [network]);
    await expectThere();
    await deletePods(cluster(), 'odd/odd-web', 'odd/odd-client');
    await remove([made, network]);
    await expectNowhere();
  }, 150_000);
});
