/** What the kubelet's probes of the agent get, while databases are away and back. Needs root and `make build`. */
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { componentStatusSchema } from '../../api/agent-status.ts';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { NODES } from '../../kube/resources.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { agentMetrics, askAgent } from './support/cluster/agent-metrics.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer2, namespace, pod } from './support/cluster/manifests.ts';
import { udnctl } from './support/cluster/udnctl.ts';

const ADDRESS = '127.0.0.1:19411';
const NODE = 'node-1';
const cluster = useCluster({ name: 'test-probes', nodes: 1, settings: { UDN_METRICS_ADDRESS: ADDRESS } });

beforeAll(() =>
  applyAndWait(cluster(), [namespace('red'), layer2('red', 'net', ['10.78.0.0/16']), pod('red', 'a', NODE)]),
);

const probe = async (path: string): Promise<{ readonly status: number; readonly lines: readonly string[] }> => {
  const { stdout } = await cluster().node(NODE, ['curl', '-s', '-w', '%{http_code}', `http://${ADDRESS}${path}`]);
  const lines = stdout.split('\n');
  return { status: Number(lines.at(-1)), lines: lines.slice(0, -1) };
};

/** Until a connection that says nothing counts as dead. */
const PATIENCE_MS = 45_000;
const OK = { status: 200, lines: ['ok'] };
/** The reasons, which the probe does not show everybody. */
const reasons = async () => (await askAgent(cluster(), NODE, '/readyz')).trimEnd().split('\n');
const untilReady = () => eventually(async () => expect(await probe('/readyz')).toEqual(OK));

it('is alive and ready when everything is done', async () => {
  await untilReady();
  expect(await probe('/healthz')).toEqual(OK);
  const lines = (await agentMetrics(cluster(), NODE)).split('\n');
  const depths = lines.filter((line) => line.startsWith('udn_agent_queue_depth'));
  expect(depths.map((line) => /backend="(\w+)"/.exec(line)?.[1]).toSorted()).toEqual([
    ...['host', 'nftables', 'northbound', 'openflow', 'openvswitch', 'southbound'],
  ]);
});

it.each([
  ['sb', 'the southbound database cannot be reached'],
  ['nb', 'the northbound database cannot be reached'],
] as const)('is not ready while %s does not answer, and stays alive', async (daemon, reason) => {
  await untilReady();
  await cluster().kill(NODE, daemon, 'SIGSTOP');
  await eventually(async () => expect(await reasons()).toEqual([reason]), PATIENCE_MS);
  expect(await probe('/readyz')).toEqual({
    status: 503,
    lines: ['the reasons are shown to accounts with access to this path'],
  });
  expect(await probe('/healthz')).toEqual(OK);
  await cluster().kill(NODE, daemon, 'SIGCONT');
  await untilReady();
});

/** Every place in which a node says what does not work. */
const said = async () => {
  const client = await cluster().client();
  const [node, report, problems, status] = await Promise.all([
    client.get(NODES, { name: NODE }),
    client.get(NODE_NETWORK_REPORTS, { name: NODE }),
    udnctl(cluster(), NODE, 'problems'),
    udnctl(cluster(), NODE, 'status'),
  ]);
  const { conditions = [] } = (node['status'] ?? {}) as {
    conditions?: { type: string; status: string; reason: string }[];
  };
  const { failedComponents } = report['status'] as { failedComponents?: { component: string }[] };
  return {
    condition: conditions.find(({ type }) => type === 'NetworkUnavailable'),
    reported: failedComponents?.map(({ component }) => component),
    problems: problems.stdout,
    status,
    reasons: await reasons(),
  };
};

/** From a stop on. */
const FOUND_MS = 15_000;
const foundAt = async (component: string): Promise<number> => {
  const { stdout } = await udnctl(cluster(), NODE, 'status', '-o', 'json');
  const { components } = z.object({ components: z.array(componentStatusSchema) }).parse(JSON.parse(stdout));
  return Date.parse(components.find((one) => one.component === component)?.since ?? '');
};

/** A Node that was always well has no such condition. */
const untilWell = () =>
  eventually(async () => {
    const { condition, ...rest } = await said();
    expect(condition?.status).not.toBe('True');
    expect(rest).toMatchObject({ reported: [], reasons: ['ok'] });
  }, PATIENCE_MS);

/** Those of OVN are among the incidents (incidents/daemons.case.ts). */
it.each([
  {
    daemon: 'ovsdb-server',
    component: 'openvswitch-db',
    // Of a database that does not answer its session ends, too, and that is the cause of what follows.
    line: 'database openvswitch cannot be reached  \\[database-unreachable\\]',
    message: 'the Open_vSwitch database does not answer',
    reason: 'the Open_vSwitch database cannot be reached',
    reported: { condition: { status: 'True', reason: 'OpenVSwitchDatabaseFailed' }, reported: ['openvswitch-db'] },
  },
  {
    daemon: 'ovs-vswitchd',
    component: 'ovs-vswitchd',
    line: 'ovs-vswitchd does not answer[^\n]*\\[vswitchd-not-responding\\]',
    message: 'ovs-vswitchd does not answer',
    reason: 'ovs-vswitchd does not answer',
    // In user space nothing leaves the node without it, and no report either.
    reported: {},
  },
] as const)(
  'finds $daemon that is there and does nothing, without a new pod',
  async ({ daemon, component, line, message, reason, reported }) => {
    await untilWell();
    await cluster().kill(NODE, daemon, 'SIGSTOP');
    const stoppedAt = Date.now();
    try {
      await eventually(
        async () =>
          expect(await said()).toMatchObject({
            ...reported,
            // The first line.
            problems: expect.stringMatching(new RegExp(`^error {4}${line}\n`)),
            status: { status: 1, stdout: expect.stringMatching(new RegExp(`^${component} +failed .*${message}`, 'm')) },
            reasons: expect.arrayContaining([expect.stringContaining(reason)]),
          }),
        PATIENCE_MS,
      );
      expect((await foundAt(component)) - stoppedAt).toBeLessThan(FOUND_MS);
    } finally {
      await cluster().kill(NODE, daemon, 'SIGCONT');
    }
    await untilWell();
  },
);

/** Until a report that nobody renews is stale, and somewhat more. */
const SILENT_MS = 150_000;
const unavailable = async () => {
  const { status } = await (await cluster().client()).get(NODES, { name: NODE });
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string; reason: string }[] };
  return conditions.find(({ type }) => type === 'NetworkUnavailable');
};

it('a Node whose agent has stopped takes no new pods until the agent is back', { timeout: 300_000 }, async () => {
  await untilReady();
  await cluster().kill(NODE, 'agent', 'SIGSTOP');
  try {
    await eventually(
      async () => expect(await unavailable()).toMatchObject({ status: 'True', reason: 'AgentNotReporting' }),
      SILENT_MS,
    );
  } finally {
    await cluster().kill(NODE, 'agent', 'SIGCONT');
  }
  // The same process, which has written nothing else meanwhile.
  await eventually(
    async () => expect(await unavailable()).toMatchObject({ status: 'False', reason: 'OVNUDNIsUp' }),
    PATIENCE_MS,
  );
});

it('gives metrics to nobody who is only on the node', async () => {
  await untilReady();
  for (const header of ['Accept: text/plain', 'Authorization: Bearer made-up']) {
    const { stdout } = await cluster().node(NODE, ['curl', '-s', '-i', '-H', header, `http://${ADDRESS}/metrics`]);
    expect(stdout).toMatch(/^HTTP\/1.1 (401|503) /);
    expect(stdout).not.toContain('udn_agent');
  }
});
