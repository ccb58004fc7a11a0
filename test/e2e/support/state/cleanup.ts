/** `udn-agent cleanup` leaves nothing of ours on the node, and nothing else away: the same in both gateway modes. */
import { beforeAll, describe, expect, it } from 'vitest';
import { CNI_PLUGIN_TYPE } from '../../../../api/names.ts';
import { FAMILIES } from '../../../../net/ip.ts';
import type { Sandbox, SandboxOptionsInput } from '../../../../sandbox/index.ts';
import { settingsEnvironment } from '../../../../sandbox/plan/cluster-settings.ts';
import { parseOptions } from '../../../../sandbox/plan/options.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod, useCluster } from '../cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from '../cluster/manifests.ts';
import { nodeAddress, outside, pings, seenOverHttp } from '../networks/north-south.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { plantForeign } from './foreign.ts';
import { fullDump } from './full-dump.ts';
import { dumpDifference, type NodeDump } from './node-dump.ts';

const NODE = 'node-1';
const MANIFESTS = [
  namespace('red'),
  layer3('red', 'net', ['10.60.0.0/16/24', 'fd00:60::/48/64']),
  namespace('green'),
  layer2('green', 'net', ['10.61.0.0/16', 'fd00:61::/64']),
  plainNamespace('plain'),
];
const TENANTS = ['red', 'green', 'plain'] as const;
const START_MS = 20_000;
/** A packet that was under way may be the last that conntrack hears of its connection, which it then knows for half a minute. */
const GONE_MS = 45_000;
/** Of clusters in a guest: the first one waits for the guest, too. */
const HOOK_MS = 300_000;

/** Call it where tests are declared. @param options of a cluster in which no agent has run before the tests do */
export const cleanup = (options: SandboxOptionsInput & { readonly name: string }): void => {
  const cluster = useCluster({ ...options, programs: 'api,kubelet,cluster-manager' });
  const parsed = parseOptions(options);
  const settings = settingsEnvironment(parsed);
  const nodes = Array.from({ length: parsed.nodes }, (_, index) => `node-${index + 1}`);
  let untouched: NodeDump = {};

  beforeAll(async () => {
    await cluster().node(NODE, ['ovn-nbctl', 'ls-add', 'foreign-base']);
    await plantForeign(cluster(), NODE, 'foreign-base');
    // Without a port that ovn-controller would bind as soon as it has a database, and a plugin that is there already.
    await cluster().node(NODE, ['ovs-vsctl', 'remove', 'Interface', 'foreign0', 'external_ids', 'iface-id']);
    await cluster().node(NODE, ['rm', '-f', `/opt/cni/bin/${CNI_PLUGIN_TYPE}`]);
    untouched = await settledFullDump(cluster());
    await Promise.all(nodes.map((node) => startAgent(cluster(), node, settings)));
    await applyAndWait(cluster(), [
      ...MANIFESTS,
      ...TENANTS.flatMap((tenant) => [pod(tenant, 'a', NODE), pod(tenant, 'b', nodes.at(-1) ?? NODE)]),
    ]);
  }, HOOK_MS);

  describe('udn-agent cleanup', () => {
    it('refuses while an agent runs, and changes nothing', async () => {
      await usedByEverybody(cluster());
      const before = await cluster().node(NODE, ['ovn-nbctl', 'list', 'Logical_Switch']);
      await expect(cluster().node(NODE, ['udn-agent', 'cleanup'])).rejects.toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/an agent is running on this node .* stop it first/),
      });
      expect(await cluster().node(NODE, ['ovn-nbctl', 'list', 'Logical_Switch'])).toEqual(before);
    });

    it('leaves the node as it was before the first agent; repeating it is no error', async () => {
      // There is something of ours in every place that is looked at.
      const used = await fullDump(cluster(), NODE);
      const touched = dumpDifference(untouched, used).map((line) => line.replace(/:.*/s, ''));
      expect([...new Set(touched)].toSorted()).toEqual(expect.arrayContaining(touchedOn(options)));
      await endAgent(cluster());
      for (const _ of ['once', 'again']) {
        const { stdout } = await cluster().node(NODE, ['udn-agent', 'cleanup'], { env: settings });
        expect(stdout).toContain('"what":"northbound rows","msg":"removed"');
        await eventually(
          async () => expect(dumpDifference(untouched, await fullDump(cluster(), NODE))).toEqual([]),
          GONE_MS * (await cluster().slowdown()),
        );
      }
    });

    it('an agent that starts after it programs everything again', async () => {
      await startAgent(cluster(), NODE, settings);
      // Those that it had have no interfaces any more.
      const names = nodes.length > 1 ? ['a'] : ['a', 'b'];
      const keys = TENANTS.flatMap((tenant) => names.map((name) => [tenant, name] as const));
      await deletePods(cluster(), ...keys.map((key) => key.join('/')));
      await applyAndWait(
        cluster(),
        keys.map(([tenant, name]) => pod(tenant, name, NODE)),
      );
      await usedByEverybody(cluster());
    });
  });
};

/** Rules are those of VRFs. */
const touchedOn = ({ needs = [] }: SandboxOptionsInput): string[] => [
  ...['links', 'addresses', 'routes', 'neighbours', 'sysctls', 'nft', 'flows', 'integration', 'ports', 'files'],
  ...['datapath'],
  ...['OVN_Northbound', 'OVN_Southbound', 'Open_vSwitch'],
  ...(needs.includes('vrf') ? ['rules', 'vrfs'] : []),
];

/** Pods of every kind reach each other, their node and the outside: then there are connections and neighbours, too. */
const usedByEverybody = async (sandbox: Sandbox): Promise<void> => {
  for (const tenant of TENANTS) {
    for (const family of FAMILIES) {
      const other = addressOfFamily(await readPod(sandbox, `${tenant}/b`), family);
      await eventually(async () => {
        expect(await seenOverHttp(sandbox, `${tenant}/a`, family)).toBe(nodeAddress(NODE, family));
        for (const to of [other, outside(family)]) expect(await pings(sandbox, `${tenant}/a`, to)).toBe(true);
      });
    }
  }
};

/** Two in a row are the same. */
const settledFullDump = (sandbox: Sandbox): Promise<NodeDump> =>
  eventually(async () => {
    const [first, second] = [await fullDump(sandbox, NODE), await fullDump(sandbox, NODE)];
    expect(dumpDifference(first, second)).toEqual([]);
    return second;
  });

const PID_FILE = '/tmp/agent.pid';

/** Resolves when it knows its node. */
const startAgent = async (
  sandbox: Sandbox,
  node: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> => {
  const script = `udn-agent --node ${node} >> /tmp/agent.log 2>&1 & echo $! > ${PID_FILE}`;
  await sandbox.node(node, ['sh', '-c', script], { env: settings });
  await eventually(() => sandbox.node(node, ['udnctl', 'networks']), START_MS * (await sandbox.slowdown()));
};

const endAgent = async (sandbox: Sandbox): Promise<void> => {
  await sandbox.node(NODE, ['sh', '-ec', `kill -9 $(cat ${PID_FILE})`]);
  await eventually(() => sandbox.node(NODE, ['sh', '-c', `! kill -0 $(cat ${PID_FILE})`]));
};
