/**
 * Services while programs die, addresses are requested twice and nodes lose theirs, with packets. Needs root and `make
 * build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { messageOf } from '../../base/error-message.ts';
import { FAMILIES, type Family } from '../../net/ip.ts';
import type { KillableName, ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { ask, type Target } from '../oracles/reachability/service-clients.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { pod } from './support/cluster/manifests.ts';
import { TENANTS, type Tenant, tenantManifests } from './support/cluster/one-of-each.ts';
import { eventsOf } from './support/faults/events.ts';
import { createRandom } from './support/faults/random.ts';
import { callShim } from './support/faults/shim.ts';
import { nodeAddress } from './support/networks/north-south.ts';
import { addressOfFamily } from './support/packets/packets.ts';
import { ServiceChurn } from './support/services/churn.ts';
import {
  addressTargets,
  answeredBy,
  type EntryPoints,
  entryPointsOf,
  fromHost,
  fromOutside,
  nodePortTargets,
  publicService,
  routeBy,
  whoAnswers,
} from './support/services/entry-points.ts';
import { expectAnswersAt, expectRefusedAt, whoAnswered } from './support/services/expectations.ts';
import { backend, clusterIps, handMadeSlice, service, targetsOf } from './support/services/services.ts';
import { expectNoDifference } from './support/state/no-difference.ts';

const cluster = useCluster({ name: 'test-service-faults', ipFamily: 'dual' });

const NODES = ['node-1', 'node-2'] as const;
/** In any order, which is another one each time: `make test-all` has more of them. */
const ROUNDS = 5 * Number(process.env['UDN_REPEAT'] ?? 1);
const CHANGES_PER_ROUND = 50;
const CHURNING = 3;
/** As often as it takes for each of two endpoints to get one, but for one in two thousand times. */
const OFTEN = 12;

const backends = (tenant: string): string[] => NODES.map((node) => `${tenant}-web-${node}`);
const client = (tenant: string, node: string): string => `${tenant}/${tenant}-client-${node}`;
const WEB = (tenant: Tenant): EntryPoints => entryPointsOf(TENANTS.indexOf(tenant));

beforeAll(async () => {
  await applyAndWait(cluster(), [
    ...tenantManifests(),
    ...TENANTS.flatMap((tenant) => [
      publicService(tenant, 'web', 'web', { ...WEB(tenant), externalIps: [] }),
      ...NODES.flatMap((node) => [
        backend(tenant, `${tenant}-web-${node}`, node, 'web'),
        pod(tenant, `${tenant}-client-${node}`, node),
      ]),
    ]),
  ]);
}, 120_000);

const expectSettled = (): Promise<void> => expectNoDifference(cluster(), NODES);

/** Who reaches what at all: pods their own network's Services, and nobody else's. */
const expectSample = async (): Promise<void> => {
  await Promise.all(TENANTS.map(expectSampleOf));
};

const expectSampleOf = async (tenant: Tenant): Promise<void> => {
  const targets = await targetsOf(cluster(), `${tenant}/web`);
  await expectAnswersAt(cluster(), client(tenant, 'node-1'), targets, backends(tenant));
  await expectOutside(nodePortTargets('node-2', WEB(tenant)), backends(tenant));
  const others = TENANTS.filter((one) => one !== tenant).map(async (other) => {
    const attempts = await ask(cluster(), client(other, 'node-2'), targets);
    expect(whoAnswered(attempts), `${other} → ${tenant}`).toEqual([]);
  });
  await Promise.all(others);
};

const askOutside = (targets: readonly Target[], times = 1): Promise<string[]> =>
  whoAnswers(fromOutside(cluster()), targets, times);

const expectOutside = (targets: readonly Target[], names: readonly string[]): Promise<void> =>
  eventually(async () =>
    expect(await askOutside(targets, names.length > 1 ? OFTEN : 1)).toEqual(answeredBy(targets, names)),
  );

const expectNobody = (targets: readonly Target[]): Promise<void> =>
  eventually(async () => {
    const answers = (await askOutside(targets)).filter((line) => !/ → \((refused|silent)\)$/.test(line));
    expect(answers).toEqual([]);
  });

describe(`${ROUNDS * CHANGES_PER_ROUND} changes of endpoints while agents and ovn-controllers are killed`, () => {
  const random = createRandom();
  const script: string[] = [];
  const portOf = (tenant: string, index: number): number =>
    30_200 + CHURNING * TENANTS.indexOf(tenant as Tenant) + index;
  let churn: ServiceChurn;

  const untilAgentServes = (node: string): Promise<void> =>
    eventually(async () => {
      const { status, body } = await callShim(cluster(), node, { command: 'STATUS' });
      expect(status, body.msg).toBe(0);
    }, 30_000);

  const round = async (program: KillableName, node: string): Promise<void> => {
    await untilAgentServes(node);
    const killAfter = Math.floor(random.next() * CHANGES_PER_ROUND);
    for (let count = 0; count < CHANGES_PER_ROUND; count++) {
      const step = await churn.step();
      script.push(step);
      if (count !== killAfter) continue;
      await eventually(() => cluster().kill(node, program, 'SIGKILL'));
      script.push(`killed ${program} of ${node}`);
    }
  };

  beforeAll(async () => {
    churn = await ServiceChurn.start({
      sandbox: cluster(),
      random,
      tenants: TENANTS,
      perTenant: CHURNING,
      backends,
      spec: (tenant, index) => ({
        type: 'NodePort',
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, nodePort: portOf(tenant, index) },
          { name: 'dns', protocol: 'UDP', port: 53, nodePort: portOf(tenant, index) },
        ],
      }),
    });
  });

  it(
    'each program comes back',
    async () => {
      for (let count = 0; count < ROUNDS; count++) {
        await round(random.pick(['agent', 'ovn-controller']), random.pick(NODES));
      }
    },
    30_000 * ROUNDS,
  );

  it('then what is programmed is the desired state, and every Service answers as its last slices say', async () => {
    const context = `UDN_SEED=${random.seed}\n${script.join('\n')}`;
    try {
      await Promise.all(NODES.map(untilAgentServes));
      await expectSettled();
      const all = await churn.answers((tenant, name, family) => nodePorts(portOf(tenant, Number(name.at(-1))), family));
      for (const { tenant, targets, names } of all) {
        const from = client(tenant, random.pick(NODES));
        if (names.length > 0) await expectAnswersAt(cluster(), from, targets, names);
        else await expectRefusedAt(cluster(), from, targets);
      }
      await expectSample();
    } catch (error) {
      throw new Error(`${messageOf(error)}\n${context}`, { cause: error });
    }
  }, 120_000);
});

/** On both nodes: a pod comes to its own by its switch, to the other one's from outside. */
const nodePorts = (nodePort: number, family: Family): Target[] =>
  NODES.flatMap((node) =>
    (['TCP', 'UDP'] as const).map((protocol) => ({ ip: nodeAddress(node, family), port: nodePort, protocol })),
  );

describe('an external address that three networks want', () => {
  const entryPoints = { ...entryPointsOf(60), ingress: [] };
  const name = (tenant: Tenant): string => `wants-${tenant}`;
  const wanting = (tenant: Tenant): ManifestObject => {
    const { ports, ...spec } = publicService(tenant, name(tenant), 'web', entryPoints)['spec'] as { ports: object[] };
    const withoutNodePorts = ports.map((port) => ({ ...port, nodePort: undefined }));
    return {
      ...publicService(tenant, name(tenant), 'web', entryPoints),
      spec: { ...spec, type: 'ClusterIP', ports: withoutNodePorts },
    };
  };
  const refusals = async (tenant: Tenant): Promise<string[]> =>
    (await eventsOf(cluster(), tenant, name(tenant)))
      .filter(({ reason }) => reason === 'ExternalAddressInUse')
      .map(({ message }) => message);

  it('is the oldest one’s, with an event on the others, and the next one’s when that is gone', async () => {
    const targets = addressTargets(entryPoints);
    await routeBy(cluster(), 'node-1', entryPoints);
    for (const tenant of TENANTS) {
      await applyAndWait(cluster(), [wanting(tenant)]);
      // Ages are in seconds.
      await new Promise((resolve) => setTimeout(resolve, 1100));
    }
    for (const [index, tenant] of TENANTS.entries()) {
      await expectOutside(targets, backends(tenant));
      for (const later of TENANTS.slice(index + 1)) {
        await eventually(async () =>
          expect((await refusals(later)).join()).toContain(`${entryPoints.externalIps[0]}:80/TCP`),
        );
      }
      expect(await refusals(TENANTS[0])).toEqual([]);
      await (await cluster().objects()).delete([wanting(tenant)], { timeoutSeconds: 30 });
    }
    await expectNobody(targets);
    await expectSettled();
    await expectSample();
  }, 60_000);
});

describe('a Service of which only some ports have endpoints', () => {
  const LACKING = { TCP: 81, UDP: 54 } as const;
  const clusterIpTargets = async (tenant: Tenant): Promise<Target[]> => {
    const ips = await clusterIps(cluster(), `${tenant}/mixed`);
    return ips.flatMap((ip) =>
      (['TCP', 'UDP'] as const).map((protocol) => ({ ip, port: LACKING[protocol], protocol })),
    );
  };
  /** Their own processes are refused, too, by ClusterIPs as by node ports and external addresses. */
  const expectHosts = async (targets: readonly Target[]): Promise<void> => {
    const each = NODES.map((node) =>
      eventually(async () =>
        expect(await whoAnswers(fromHost(cluster(), node), targets)).toEqual(answeredBy(targets, ['(refused)'])),
      ),
    );
    await Promise.all(each);
  };

  it.each(TENANTS)(
    'of %s refuses outside at the others at once, and answers at these',
    async (tenant) => {
      const entryPoints = { ...entryPointsOf(70 + 2 * TENANTS.indexOf(tenant)), ingress: [] };
      const nobody = { ...entryPoints, nodePort: entryPoints.nodePort + 1 };
      const made = publicService(tenant, 'mixed', 'web', entryPoints);
      const { ports, ...spec } = made['spec'] as { ports: object[] };
      const lacking = [
        { name: 'nothing', protocol: 'TCP', port: LACKING.TCP, targetPort: 'nothing', nodePort: nobody.nodePort },
        { name: 'nothing-udp', protocol: 'UDP', port: LACKING.UDP, targetPort: 'nothing', nodePort: nobody.nodePort },
      ];
      await applyAndWait(cluster(), [{ ...made, spec: { ...spec, ports: [...ports, ...lacking] } }]);
      await routeBy(cluster(), 'node-1', entryPoints);
      const refusing = [
        ...NODES.flatMap((node) => nodePortTargets(node, nobody)),
        ...addressTargets(entryPoints).map((target) => ({ ...target, port: target.port + 1 })),
      ];
      const served = [...nodePortTargets('node-2', entryPoints), ...addressTargets(entryPoints)];
      await expectOutside(served, backends(tenant));
      await expectOutside(refusing, ['(refused)']);
      if (tenant === 'plain') await expectHosts([...refusing, ...(await clusterIpTargets(tenant))]);
      await (await cluster().objects()).delete([made], { timeoutSeconds: 30 });
      await expectSettled();
    },
    60_000,
  );
});

describe('a Service whose endpoints of one family come and go', () => {
  /** What it loses is refused by a row of its own: northd gets two rows with one address, in an order by chance. */
  const TIMES = 6;
  const podsOf = async (tenant: Tenant): Promise<Record<Family, string>> => {
    const found = await readPod(cluster(), `${tenant}/${tenant}-web-node-1`);
    return { 4: addressOfFamily(found, 4), 6: addressOfFamily(found, 6) };
  };
  const slice = (tenant: Tenant, family: Family, addresses: readonly string[]): ManifestObject => ({
    ...handMadeSlice(tenant, `half-${family}`, 'half', addresses),
    addressType: `IPv${family}`,
  });

  it.each(TENANTS)(
    'of %s leaves the node ports of others of its network alone',
    async (tenant) => {
      const nodePort = 30_180 + TENANTS.indexOf(tenant);
      const half = service(tenant, 'half', {
        spec: {
          type: 'NodePort',
          ports: [
            { name: 'http', protocol: 'TCP', port: 80, nodePort },
            { name: 'dns', protocol: 'UDP', port: 53, nodePort },
          ],
        },
      });
      const addresses = await podsOf(tenant);
      const give = async (family: Family, some: boolean): Promise<void> => {
        await (await cluster().objects()).apply([slice(tenant, family, some ? [addresses[family]] : [])]);
        const names = some ? [`${tenant}-web-node-1`] : ['(refused)'];
        await expectOutside(nodePorts(nodePort, family), names);
      };
      await applyAndWait(cluster(), [half]);
      await give(4, true);
      await give(6, true);
      for (let count = 0; count < TIMES; count++) {
        const family: Family = count % 2 === 0 ? 6 : 4;
        await give(family, false);
        const others = NODES.flatMap((node) => nodePortTargets(node, WEB(tenant)));
        await expectOutside(others, backends(tenant));
        await give(family, true);
      }
      await (await cluster().objects()).delete([half], { timeoutSeconds: 30 });
      await expectSettled();
    },
    90_000,
  );
});

describe('an address of a node that has node ports', () => {
  const SECOND = { 4: '172.20.0.111/24', 6: 'fd00:172:20::111/64' } as const;
  const bare = (family: Family): string => SECOND[family].split('/')[0] ?? '';
  const targets = (tenant: Tenant): Target[] =>
    FAMILIES.flatMap((family) =>
      (['TCP', 'UDP'] as const).map((protocol) => ({ ip: bare(family), port: WEB(tenant).nodePort, protocol })),
    );
  const change = async (what: 'replace' | 'del'): Promise<void> => {
    for (const family of FAMILIES) {
      const flags = what === 'replace' && family === 6 ? ['nodad'] : [];
      await cluster().node('node-1', ['ip', 'address', what, SECOND[family], 'dev', 'br-ex', ...flags]);
    }
  };
  /** By its rows, flows and sets. */
  const naming = async (): Promise<string[]> => {
    const [balancers, flows, table] = await Promise.all([
      cluster().node('node-1', ['ovn-nbctl', '--bare', '--columns=vips', 'list', 'Load_Balancer']),
      cluster().node('node-1', ['ovs-ofctl', '--no-stats', 'dump-flows', 'br-ex']),
      cluster().node('node-1', ['nft', 'list', 'table', 'inet', 'ovn-udn']),
    ]);
    const lines = [balancers, flows, table].flatMap(({ stdout }) => stdout.split('\n'));
    return lines.filter((line) => FAMILIES.some((family) => new RegExp(`${bare(family)}\\b`).test(line)));
  };

  it('answers there while the node has it, and only then, without a restart', async () => {
    for (let count = 0; count < 2; count++) {
      await change('replace');
      await Promise.all(TENANTS.map((tenant) => expectOutside(targets(tenant), backends(tenant))));
      await expectSettled();
      await change('del');
      await eventually(async () => expect(await naming()).toEqual([]));
      const each = TENANTS.map(async (tenant) => {
        await expectNobody(targets(tenant));
        await expectOutside(nodePortTargets('node-1', WEB(tenant)), backends(tenant));
      });
      await Promise.all(each);
    }
    await expectSettled();
    await expectSample();
  }, 180_000);
});
