/** Who of a node reaches its pods, by sockets and with answers: the reachability oracle from each kind of process there. */
import { expect, it } from 'vitest';
import { addressAt, parseCidr } from '../../../net/cidr.ts';
import type { Ip } from '../../../net/ip.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { networksOn } from '../../e2e/support/cluster/udnctl.ts';
import { readPods } from '../reachability/measure.ts';
import type { NodeLink, NodeSource } from '../reachability/node-plan.ts';
import { measureFromNode, type RunAs } from '../reachability/node-run.ts';
import type { Attachment } from '../reachability/types.ts';
import { hostPodOf } from './cast.ts';
import { newRun } from './wire/marker.ts';

const KUBELET_CGROUP = '/sys/fs/cgroup/kubelet.slice/kubelet.service';
const TIMEOUT_MS = 600_000;

interface Process extends NodeSource {
  readonly runAs: (sandbox: Sandbox) => RunAs;
}

const isDefault = ({ network, role }: Attachment): boolean => network === 'default' && role === 'primary';

const onNode =
  (node: string, ...prefix: readonly string[]): Process['runAs'] =>
  (sandbox) =>
  (argv, options) =>
    sandbox.node(node, [...prefix, ...argv], options);

const inPod =
  (key: string): Process['runAs'] =>
  (sandbox) =>
  (argv, options) =>
    sandbox.exec(key, argv, options);

const isOfBlue: Process['mayReach'] = ({ network, role }) => network === 'blue_net' && role === 'primary';

/** @param hasVrfs management ports lead into networks: else what a pod of the host sends there gets no answer */
const processes = (node: string, hasVrfs: boolean): readonly Process[] => [
  { name: 'a process of root', mayReach: isDefault, runAs: onNode(node) },
  {
    name: 'a process of another user',
    // Who has no raw socket sends no ICMP: that nothing of it comes is no merit of anybody's.
    mayReach: () => false,
    runAs: onNode(node, 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'),
  },
  { name: 'a host-network pod of no tenant', mayReach: isDefault, runAs: inPod(hostPodOf('plain', node)) },
  {
    name: 'a host-network pod of a tenant',
    mayReach: (to) => isDefault(to) || (hasVrfs && isOfBlue(to)),
    mayBeHeardBy: isOfBlue,
    runAs: inPod(hostPodOf('blue', node)),
  },
  {
    name: 'the kubelet',
    mayReach: ({ network }) => network === 'default',
    runAs: onNode(node, 'sh', '-c', `echo $$ > ${KUBELET_CGROUP}/cgroup.procs && exec "$@"`, '-'),
  },
];

/** Call it where tests are declared, after the cast is there. */
export const nodeOracle = (
  cluster: () => Sandbox,
  { node, hasVrfs }: { readonly node: string; readonly hasVrfs: boolean },
): void => {
  it.each(processes(node, hasVrfs))(
    '$name reaches no pod but those that it may',
    { timeout: TIMEOUT_MS },
    async (source) => {
      const sandbox = cluster();
      const pods = (await readPods(await sandbox.objects())).filter((pod) => pod.node === node);
      const links = await readLinks(sandbox, node);
      expect(links.length).toBeGreaterThan(2);
      // What is missing may come yet; what has leaked once has leaked.
      const leaks = new Set<string>();
      await eventually(async () => {
        const runAs = source.runAs(sandbox);
        const found = await measureFromNode(sandbox, { source, runAs, run: newRun() }, pods, links);
        for (const one of found) if (!one.endsWith('no answer')) leaks.add(one);
        expect(found.filter((one) => one.endsWith('no answer'))).toEqual([]);
      }, 60_000);
      expect([...leaks].toSorted()).toEqual([]);
    },
  );
};

const readLinks = async (sandbox: Sandbox, node: string): Promise<readonly NodeLink[]> => {
  return (await networksOn(sandbox, node)).map(({ name, id, nodeSubnets }) => ({
    network: name,
    device: `ovn-k8s-mp${id}`,
    broadcast: broadcastOf(nodeSubnets),
  }));
};

const broadcastOf = (subnets: readonly string[]): Ip | undefined => {
  const subnet = subnets.find((one) => !one.includes(':'));
  return subnet === undefined ? undefined : addressAt(parseCidr(subnet), 2 ** (32 - Number(subnet.split('/')[1])) - 1);
};
