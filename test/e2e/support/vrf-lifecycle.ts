/** VRFs when the agent starts again, and when their networks go. Networks are those of north-south.ts. */
import { expect, it } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { deletePods } from './cluster.ts';
import { layer2, layer3 } from './manifests.ts';
import { dumpDifference, dumpNode } from './node-dump.ts';

const NODES = ['node-1', 'node-2'] as const;
const RESTART_MS = 60_000;
const REMOVAL_MS = 100_000;

/** What tells of changes of the kinds of objects that are ours, and which of its lines are of ours. */
const MONITORS = [
  {
    command: 'ip -o monitor link address route rule',
    isOurs: (line: string) => !/ (proto kernel|expires)\b/.test(line),
  },
  { command: 'ovs-ofctl monitor br-ex watch:!initial', isOurs: (line: string) => line.includes('event=') },
  { command: 'nft monitor', isOurs: (line: string) => line.includes('ovn-udn') },
];

/** Call it where tests are declared, last: it deletes networks. */
export const vrfLifecycle = (cluster: () => Sandbox): void => {
  it('an agent that is killed and started again changes nothing', async () => {
    const [node] = NODES;
    const before = await dumpNode(cluster(), node);
    const pids = await startMonitors(cluster(), node);
    await cluster().kill(node, 'agent', 'SIGKILL');
    await eventually(() => cluster().node(node, ['udnctl', 'diff']), RESTART_MS * (await cluster().slowdown()));
    expect(await endMonitors(cluster(), node, pids)).toEqual([]);
    expect(dumpDifference(before, await dumpNode(cluster(), node))).toEqual([]);
  });

  it('nothing is left on any node of networks that are deleted', async () => {
    const ids = await Promise.all(['blue', 'gold'].map((tenant) => networkId(cluster(), tenant)));
    await deletePods(
      cluster(),
      ...['blue', 'gold'].flatMap((tenant) => NODES.map((node) => `${tenant}/${tenant}-${node}`)),
    );
    const objects = await cluster().objects();
    await objects.delete([layer3('blue', 'net', []), layer2('gold', 'net', [])], { timeoutSeconds: 30 });
    const ofNetworks = new RegExp(ids.map(traces).join('|'));
    await eventually(async () => {
      for (const node of NODES) {
        const dump = await dumpNode(cluster(), node);
        expect(
          Object.values(dump)
            .flat()
            .filter((line) => ofNetworks.test(line)),
        ).toEqual([]);
        // Those of red and green.
        expect(dump['links']?.filter((line) => / 10000\d$/.test(line))).toHaveLength(2);
      }
    }, REMOVAL_MS);
  });
};

/** In what lines: management ports, VRFs and their tables, packet marks, masquerade addresses, ports of br-ex. */
const traces = (id: number): string =>
  [
    `\\bovn-k8s-mp${id}\\b`,
    `\\bmp${id}-udn-vrf\\b`,
    `\\b${100_000 + id}\\b`,
    `\\b0x${(4096 + id).toString(16)}\\b`,
    `\\b169\\.254\\.0\\.(${10 + 2 * id - 1}|${10 + 2 * id})\\b`,
    `\\bct_mark=0x${(3 + id).toString(16)}\\b`,
    'patch-br-ex_(blue|gold)\\.',
  ].join('|');

const networkId = async (sandbox: Sandbox, tenant: string): Promise<number> => {
  const { stdout } = await sandbox.node(NODES[0], ['udnctl', 'networks', '-o', 'json']);
  const networks = JSON.parse(stdout) as readonly { readonly name: string; readonly id: number }[];
  const found = networks.find(({ name }) => name === `${tenant}_net`);
  if (found === undefined) throw new Error(`there is no network of ${tenant}`);
  return found.id;
};

const logOf = (index: number): string => `/run/monitor-${index}.log`;

const startMonitors = (sandbox: Sandbox, node: string): Promise<string[]> =>
  Promise.all(
    MONITORS.map(async ({ command }, index) => {
      const { stdout } = await sandbox.node(node, [
        'sh',
        '-c',
        `stdbuf -oL ${command} >${logOf(index)} 2>&1 & echo $!`,
      ]);
      return stdout.trim();
    }),
  );

/** @returns what they have told of ours */
const endMonitors = async (sandbox: Sandbox, node: string, pids: readonly string[]): Promise<string[]> => {
  await sandbox.node(node, ['kill', ...pids]);
  const told = MONITORS.map(async ({ command, isOurs }, index) => {
    const { stdout } = await sandbox.node(node, ['cat', logOf(index)]);
    return stdout.split('\n').flatMap((line) => (line !== '' && isOurs(line) ? [`${command}: ${line}`] : []));
  });
  return (await Promise.all(told)).flat();
};
