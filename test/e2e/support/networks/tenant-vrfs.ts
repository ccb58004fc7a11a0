/**
 * The back door of tenants' networks: the node's own stack, with a VRF for each. Networks are those of north-south.ts,
 * which has to be called first.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FAMILIES, type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { PROTOCOLS, type ReachabilityPod } from '../../../oracles/reachability/types.ts';
import { applyAndWait, readPod } from '../cluster/cluster.ts';
import { hostNetworkPod, pod } from '../cluster/manifests.ts';
import { networkNamed } from '../cluster/udnctl.ts';
import { addressesOf, addressOfFamily, describePacket, send } from '../packets/packets.ts';
import { actualStack, renderedStack } from '../state/host-stack.ts';
import { dumpNode } from '../state/node-dump.ts';
import { nodeAddress, pings } from './north-south.ts';
import { networkOf, podKey, TENANTS, TENANTS_AND_PLAIN, type Tenant, vrfOf } from './north-south-tenants.ts';

const NODE = 'node-1';
/** Who tries: a network of each kind, and those of the cluster, whose VRFs have other names. */
const ACTORS = ['red', 'shop', 'green', 'mart'] as const;

const probed = (inNamespace: string): ManifestObject => {
  const every = { periodSeconds: 1, failureThreshold: 60 };
  return {
    ...pod(inNamespace, 'probed', NODE),
    spec: {
      nodeName: NODE,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: 'toolbox',
          startupProbe: { tcpSocket: { port: 8082 }, ...every },
          readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, ...every },
        },
      ],
    },
  } as ManifestObject;
};

interface Tenancy {
  readonly id: number;
  readonly vrf: string;
  readonly management: readonly Ip[];
  readonly masquerade: readonly Ip[];
}

/** Call it where tests are declared. */
export const tenantVrfs = (cluster: () => Sandbox): void => {
  const pods = new Map<string, ReachabilityPod>();
  const tenancies = new Map<Tenant, Tenancy>();
  const podOf = (tenant: Tenant | 'plain'): ReachabilityPod => {
    const found = pods.get(tenant);
    if (found === undefined) throw new Error(`there is no pod of ${tenant}`);
    return found;
  };
  const tenancyOf = (tenant: Tenant): Tenancy => {
    const found = tenancies.get(tenant);
    if (found === undefined) throw new Error(`there is no network of ${tenant}`);
    return found;
  };

  beforeAll(async () => {
    await applyAndWait(cluster(), [
      ...[...ACTORS, 'plain'].map((one) => hostNetworkPod(one, NODE)),
      ...['red', 'plain'].map(probed),
    ]);
    for (const tenant of TENANTS_AND_PLAIN) pods.set(tenant, await readPod(cluster(), podKey(tenant, NODE)));
    for (const tenant of TENANTS) tenancies.set(tenant, await readTenancy(cluster(), tenant));
  });

  describe('VRFs of tenants', () => {
    it('links, routes, rules and neighbours are there as udnctl render says', async () => {
      await eventually(async () =>
        expect(await actualStack(cluster(), NODE)).toEqual(await renderedStack(cluster(), NODE)),
      );
      const { links } = await dumpNode(cluster(), NODE);
      for (const tenant of TENANTS) {
        const { id, vrf } = tenancyOf(tenant);
        expect(links?.filter((line) => line.startsWith(`ovn-k8s-mp${id} `)).join()).toContain(` master ${vrf}`);
        expect(links).toContainEqual(expect.stringMatching(new RegExp(`^${vrf} up .*\\b${100_000 + id}$`)));
      }
    });
  });

  describe.each(FAMILIES)('VRFs of tenants, IPv%s', (family) => {
    const inVrf = (tenant: Tenant): Target => ({
      vrf: tenancyOf(tenant).vrf,
      address: addressOfFamily(podOf(tenant), family),
    });

    it.each(ACTORS)('a host-network pod of %s reaches its own network, and no other', async (tenant) => {
      const run: Run = (argv, options) => cluster().exec(`${tenant}/host`, argv, options);
      await eventually(async () => expect(await reached(run, [inVrf(tenant)])).toEqual(everyProtocol(inVrf(tenant))));
      expect(await reached(run, TENANTS.filter((one) => one !== tenant).map(inVrf))).toEqual([]);
    });

    it('nobody else of the node reaches pods of tenants', async () => {
      const targets = TENANTS.map(inVrf);
      expect(await reached((argv, options) => cluster().node(NODE, argv, options), targets)).toEqual([]);
      expect(await reached((argv, options) => cluster().exec('plain/host', argv, options), targets)).toEqual([]);
      const bound = TENANTS.map((tenant) => {
        const enter = ['ip', 'vrf', 'exec', tenancyOf(tenant).vrf];
        const run: Run = (argv, options) => cluster().node(NODE, [...enter, ...argv], options);
        return reached(run, [{ address: inVrf(tenant).address }]);
      });
      expect((await Promise.all(bound)).flat()).toEqual([]);
    });

    it.each(ACTORS)('pods of %s get to no other tenant through the node', async (tenant) => {
      const { key: from } = podOf(tenant);
      const own = [...addressesOf(podOf(tenant)), ...tenancyOf(tenant).management];
      const packets = TENANTS.filter((one) => one !== tenant).flatMap((other) => {
        const { masquerade, management } = tenancyOf(other);
        return [...masquerade, ...management, ...addressesOf(podOf(other))]
          .filter((ip) => ipFamily(ip) === family && !own.includes(ip))
          .flatMap((address) => PROTOCOLS.map((protocol) => ({ from, to: podOf(other).key, address, protocol })));
      });
      expect(packets.length).toBeGreaterThan(20);
      const outcomes = await send(cluster(), packets);
      const leaks = packets.filter((_, index) => outcomes[index]?.arrived || outcomes[index]?.answered);
      expect(leaks.map(describePacket)).toEqual([]);
    });

    it.each(TENANTS)('pods of %s reach the addresses of nodes', async (tenant) => {
      const { key: from } = podOf(tenant);
      await eventually(async () => {
        for (const node of [NODE, 'node-2']) expect(await pings(cluster(), from, nodeAddress(node, family))).toBe(true);
      });
    });
  });

  it('the kubelet’s probes reach pods of the default network and of others', async () => {
    const objects = await cluster().objects();
    for (const key of ['red/probed', 'plain/probed']) {
      const found = JSON.stringify(await objects.get('pod', key));
      expect(found).toContain('"ready":true');
      expect(found).toContain('"restartCount":0');
    }
  });
};

interface Target {
  /** Default: no socket is bound. */
  readonly vrf?: string | undefined;
  readonly address: Ip;
}

type Run = (argv: readonly string[], options: { readonly input: string }) => Promise<{ readonly stdout: string }>;

const nameOf = (protocol: string, { vrf = 'any', address }: Target): string => `${protocol} ${vrf} ${address}`;
const everyProtocol = (target: Target): string[] => PROTOCOLS.map((protocol) => nameOf(protocol, target)).sort();

/** What was answered, a line each. A process that is not even let into the VRF has reached nothing. */
const reached = async (run: Run, targets: readonly Target[]): Promise<string[]> => {
  const probes = targets.flatMap((target) => PROTOCOLS.map((protocol) => ({ target, protocol })));
  const input = probes
    .map(
      ({ target: { address, vrf = '-' }, protocol }, id) =>
        `${id} ${ipFamily(address)} ${protocol} ${address} ${vrf}\n`,
    )
    .join('');
  const { stdout } = await run(['toolbox', 'probe', '--timeout', '500', '--tries', '2'], { input });
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => answerSchema.parse(JSON.parse(line)));
  expect(answers).toHaveLength(probes.length);
  return answers
    .flatMap(({ id, answered }) => {
      const probe = probes[Number(id)];
      return answered && probe !== undefined ? [nameOf(probe.protocol, probe.target)] : [];
    })
    .sort();
};

const answerSchema = z.object({ id: z.string(), answered: z.boolean() });

const readTenancy = async (sandbox: Sandbox, tenant: Tenant): Promise<Tenancy> => {
  const { id, masquerade } = await networkNamed(sandbox, NODE, networkOf(tenant));
  const link = `ovn-k8s-mp${id}`;
  const { stdout } = await sandbox.node(NODE, ['ip', '-j', 'address', 'show', 'dev', link, 'scope', 'global']);
  const infos = linkSchema.parse(JSON.parse(stdout)).flatMap(({ addr_info: own }) => own);
  return {
    id,
    vrf: vrfOf(tenant, id),
    masquerade: [...(masquerade?.gateway ?? []), ...(masquerade?.management ?? [])].map(parseIp),
    management: infos.flatMap(({ local }) => (local === undefined ? [] : [parseIp(local)])),
  };
};

const linkSchema = z.array(z.object({ addr_info: z.array(z.object({ local: z.string().optional() })).default([]) }));
