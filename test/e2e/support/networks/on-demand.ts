/** Networks that come to a node with their first pod there and go some time after their last one. */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod } from '../cluster/cluster.ts';
import { hostNetworkPod, layer2, layer3, namespace, pod } from '../cluster/manifests.ts';
import { restartsOf } from '../cluster/restarts.ts';
import { networksOn } from '../cluster/udnctl.ts';
import { note } from '../faults/survive.ts';
import { addressOfFamily } from '../packets/packets.ts';
import { streamWhile } from '../packets/stream.ts';
import { dumpDifference, dumpNode, type NodeDump, settledDump, untilAsBefore } from '../state/node-dump.ts';
import { ownRowsNaming } from '../state/rows.ts';
import { nodeAddress, seenOverHttp } from './north-south.ts';

const NODE = 'node-1';
const OTHER = 'node-2';

/** For the cluster. */
export const onDemandSettings = (graceSeconds: number) => ({
  UDN_NETWORK_RENDERING: 'on-demand',
  UDN_NETWORK_GRACE: String(graceSeconds),
});

/** From the creation of the first pod to its first answers from another node and from outside. */
const FIRST_ANSWERS_MS = 10_000;
const RESTART_MS = 60_000;

const KINDS = [
  { name: 'blue', topology: 'Layer3', network: layer3('blue', 'net', ['10.86.0.0/16/24', 'fd00:86::/48/64']) },
  { name: 'green', topology: 'Layer2', network: layer2('green', 'net', ['10.87.0.0/16', 'fd00:87::/64']) },
] as const;

/** Its pods are there all the time. */
const STAYS = [
  namespace('red'),
  layer3('red', 'net', ['10.85.0.0/16/24', 'fd00:85::/48/64']),
  pod('red', 'a', NODE),
  pod('red', 'b', OTHER),
];

/** Call it where tests are declared. @param graceSeconds of the cluster: an agent can be started again within it */
export const onDemand = (cluster: () => Sandbox, graceSeconds: number): void => {
  /** The node without what comes and goes. */
  let before: NodeDump = {};
  const namesOf = (name: string): Promise<string[]> => ownRowsNaming(cluster(), NODE, `${name}_net`);
  const isAsBefore = async (): Promise<void> =>
    expect(dumpDifference(before, await dumpNode(cluster(), NODE))).toEqual([]);

  beforeAll(async () => {
    await applyAndWait(cluster(), [...STAYS, ...KINDS.flatMap(({ name, network }) => [namespace(name), network])]);
    await untilSeenOutside(cluster(), 'red/a');
    before = await settledDump(cluster(), NODE);
  });

  /** The last one that used the network goes, and then the network, not earlier than after the grace. */
  const goes = async (key: string): Promise<void> => {
    const [name = ''] = key.split('/');
    const start = performance.now();
    await deletePods(cluster(), key);
    await untilAsBefore(cluster(), NODE, before);
    await eventually(async () => expect(await namesOf(name)).toEqual([]), RESTART_MS);
    await eventually(async () => expect(await unused(cluster())).toContain(`${name}_net`));
    const seconds = (performance.now() - start) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(graceSeconds);
    note(`${name} is gone ${seconds.toFixed(1)} s after its last pod, with ${graceSeconds} s of grace`);
  };

  describe.each(KINDS)('a $topology network', ({ name }) => {
    const [first, next] = [`${name}/first`, `${name}/next`];
    const onNode = (key: string): ManifestObject => pod(name, key.split('/')[1] ?? '', NODE);

    it('with a pod on another node only is not here', async () => {
      await applyAndWait(cluster(), [pod(name, 'elsewhere', OTHER)]);
      await untilSeenOutside(cluster(), `${name}/elsewhere`, OTHER);
      expect(await namesOf(name)).toEqual([]);
      await isAsBefore();
      expect(await unused(cluster())).toContain(`${name}_net`);
    });

    it('comes with its first pod, goes after its last one, and nobody else notices', async () => {
      const to = addressOfFamily(await readPod(cluster(), 'red/b'), 4);
      const stream = await streamWhile(cluster(), { from: 'red/a', to }, async () => {
        const start = performance.now();
        await applyAndWait(cluster(), [onNode(first)]);
        const ready = performance.now() - start;
        await reaches(cluster(), first, `${name}/elsewhere`);
        await reaches(cluster(), `${name}/elsewhere`, first);
        await untilSeenOutside(cluster(), first);
        const answered = performance.now() - start;
        note(`${name} on ${NODE}: ready after ${ready.toFixed(0)} ms, all answers after ${answered.toFixed(0)} ms`);
        expect(answered).toBeLessThan(FIRST_ANSWERS_MS * (await cluster().slowdown()));
        expect(await unused(cluster())).not.toContain(`${name}_net`);
        await goes(first);
      });
      expect(stream).toBe('whole');
    });

    it('stays as it is for a pod that comes within the grace, also when the agent is started again meanwhile', async () => {
      await applyAndWait(cluster(), [onNode(first)]);
      await untilSeenOutside(cluster(), first);
      const identities = await switchesOf(cluster(), name);
      expect(identities.length).toBeGreaterThan(0);
      const restarts = await restartsOf(cluster(), NODE);
      await deletePods(cluster(), first);
      await cluster().kill(NODE, 'agent', 'SIGKILL');
      await eventually(async () => {
        expect(await restartsOf(cluster(), NODE)).toBeGreaterThan(restarts);
        expect(await unused(cluster())).not.toContain(`${name}_net`);
      }, RESTART_MS);
      await applyAndWait(cluster(), [onNode(next)]);
      await reaches(cluster(), next, `${name}/elsewhere`);
      expect(await switchesOf(cluster(), name)).toEqual(identities);
      await goes(next);
    });

    it('that the agent has from before goes, too, when nobody comes', async () => {
      await applyAndWait(cluster(), [onNode(first)]);
      await untilSeenOutside(cluster(), first);
      await cluster().kill(NODE, 'agent', 'SIGKILL');
      await goes(first);
    });

    it('comes with a host-network pod of its namespace', async () => {
      await applyAndWait(cluster(), [hostNetworkPod(name, NODE)]);
      await eventually(async () => {
        expect(await switchesOf(cluster(), name)).not.toEqual([]);
        expect(await unused(cluster())).not.toContain(`${name}_net`);
        // ovn-controller has taken the port by which such pods reach the network.
        expect(await managementPorts(cluster(), name)).toMatch(/ovn-installed="?true/);
      }, RESTART_MS);
      await goes(`${name}/host`);
    });
  });
};

const untilSeenOutside = async (sandbox: Sandbox, from: string, node: string = NODE): Promise<void> => {
  for (const family of FAMILIES) {
    await eventually(async () => expect(await seenOverHttp(sandbox, from, family)).toBe(nodeAddress(node, family)));
  }
};

const reaches = async (sandbox: Sandbox, from: string, to: string): Promise<void> => {
  const target = await readPod(sandbox, to);
  for (const family of FAMILIES) {
    const address = addressOfFamily(target, family);
    await eventually(() => sandbox.exec(from, ['ping', '-c', '1', '-W', '1', address]));
  }
};

/** Networks of which the agent says that nothing here uses them. */
const unused = async (sandbox: Sandbox): Promise<string[]> =>
  (await networksOn(sandbox, NODE))
    .filter(({ message }) => message === 'not on this node, unused here')
    .map(({ name }) => name);

/** With what OVN knows them by: one that is recreated is another one. */
const switchesOf = async (sandbox: Sandbox, name: string): Promise<string[]> => {
  const columns = ['--no-headings', '--format=csv', '--columns=_uuid,name'];
  const { stdout } = await sandbox.node(NODE, ['ovn-nbctl', ...columns, 'list', 'Logical_Switch']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(`${name}_net`))
    .sort();
};

const managementPorts = async (sandbox: Sandbox, name: string): Promise<string> => {
  const columns = ['--no-headings', '--columns=external_ids', 'find', 'Interface', 'type=internal'];
  const network = `external_ids:"k8s.ovn.org/network"=${name}_net`;
  return (await sandbox.node(NODE, ['ovs-vsctl', ...columns, network])).stdout;
};
