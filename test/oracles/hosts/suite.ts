/**
 * Who reaches a pod of a primary network on the default network: the kubelet, and everybody what the pod opens. In local
 * gateway mode the node's own stack has VRFs and forwards, so it is tested there, too.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES, type Ip, ipFamily } from '../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait, readPod } from '../../e2e/support/cluster/cluster.ts';
import { pod } from '../../e2e/support/cluster/manifests.ts';
import type { ReachabilityPod } from '../reachability/types.ts';
import { sendByLink, watchDefaultInterface } from './by-link.ts';
import {
  type EntryPoint,
  entryPointName,
  type Held,
  type HeldEntryPoints,
  holdEntryPoints,
  openEntryPoints,
  type PortProtocol,
  type Run,
  serveEntryPoints,
} from './entry-points.ts';

const NODE = 'node-1';
const OTHER_NODE = 'node-2';
const OPEN_PORTS = 'k8s.ovn.org/open-default-ports';
const KUBELET_CGROUP = '/sys/fs/cgroup/kubelet.slice/kubelet.service';
const [FIRST, SECOND] = [7001, 7002];

/** Pods, as `namespace/name`. */
export interface HostIsolationOptions {
  /** Of a primary network, on the first node. It is made here. */
  readonly victim: string;
  /** Of the default network, on the first and on the second node. */
  readonly plain: readonly [string, string];
  /** Host-network pods of the first node: of the victim's namespace, and of one without a network. */
  readonly hostPods: readonly [string, string];
  readonly hasSctp?: boolean;
}

/** Call it where tests are declared. */
export const hostIsolation = (cluster: () => Sandbox, options: HostIsolationOptions): void => {
  const { victim, plain, hostPods, hasSctp = false } = options;
  const protocols: readonly PortProtocol[] = ['tcp', 'udp', ...(hasSctp ? (['sctp'] as const) : [])];
  const inKubelet = (node: string): Run => {
    const enter = `echo $$ > ${KUBELET_CGROUP}/cgroup.procs && exec "$@"`;
    return (argv, options) => cluster().node(node, ['sh', '-c', enter, '-', ...argv], options);
  };
  const inPod = (key: string): Run => {
    return (argv, options) => cluster().exec(key, argv, options);
  };
  const callers: Readonly<Record<string, Run>> = {
    'a process of the node': (argv, options) => cluster().node(NODE, argv, options),
    'a process of another node': (argv, options) => cluster().node(OTHER_NODE, argv, options),
    'the kubelet of another node': inKubelet(OTHER_NODE),
    'a host-network pod of the namespace': inPod(hostPods[0]),
    'another host-network pod': inPod(hostPods[1]),
    'a pod of the default network': inPod(plain[0]),
    'a pod of the default network on another node': inPod(plain[1]),
  };
  /** Of different ways to the pod: made by its own node, by another one, and by a pod. */
  const holders = ['a process of the node', 'a process of another node', 'a pod of the default network'];
  let entryPoints: readonly EntryPoint[] = [];
  let insider: ReachabilityPod;

  beforeAll(async () => {
    await annotate('[]');
    entryPoints = entryPointsOf(await readPod(cluster(), victim), protocols);
    insider = await readPod(cluster(), plain[0]);
    await serveEntryPoints(cluster(), victim, entryPoints);
  });

  const annotate = async (value: string): Promise<void> => {
    const [inNamespace = '', name = ''] = victim.split('/');
    const manifest: ManifestObject = pod(inNamespace, name, NODE, { [OPEN_PORTS]: value });
    await applyAndWait(cluster(), [manifest]);
  };
  /** The node's end of the victim's default interface. */
  const hostEnd = async (): Promise<string> => {
    const { stdout: index } = await cluster().exec(victim, ['cat', '/sys/class/net/eth0/iflink']);
    const { stdout } = await cluster().node(NODE, ['sh', '-c', 'grep . /sys/class/net/*/ifindex']);
    const found = new RegExp(`^/sys/class/net/(.*)/ifindex:${index.trim()}$`, 'm').exec(stdout)?.[1];
    if (found === undefined) throw new Error(`no link ${index} in ${stdout}`);
    return found;
  };
  /** By whom, all of them at once. */
  const reached = async (): Promise<Record<string, readonly string[]>> =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(callers).map(async ([who, run]) => [who, await openEntryPoints(run, entryPoints)] as const),
      ),
    );
  const become = async (isOpen: (entryPoint: EntryPoint) => boolean): Promise<void> => {
    const open = entryPoints.filter(isOpen).map(entryPointName).sort();
    const desired = Object.fromEntries(Object.keys(callers).map((who) => [who, open]));
    const timeoutMs = 30_000 * (await cluster().slowdown());
    await eventually(async () => expect(await reached()).toEqual(desired), timeoutMs);
  };
  const annotation = (port: number): string =>
    protocols.map((protocol) => `- protocol: ${protocol}\n  port: ${port}\n`).join('');

  describe('a pod of a primary network, on the default network', () => {
    it('is reached by the kubelet, and by nobody else of any node', async () => {
      const all = entryPoints.map(entryPointName).sort();
      await eventually(async () => expect(await openEntryPoints(inKubelet(NODE), entryPoints)).toEqual(all));
      await become(() => false);
    });

    it('is not reached by what all pods of the node have: link-local addresses, groups and broadcasts', async () => {
      const { stdout } = await cluster().exec(victim, ['ip', '-6', '-o', 'addr', 'show', 'eth0', 'scope', 'link']);
      const [ipv4, ipv6] = defaultAddresses(await readPod(cluster(), victim)).toSorted(
        (a, b) => ipFamily(a) - ipFamily(b),
      );
      const linkLocal = /inet6 (\S+)\//.exec(stdout)?.[1];
      if (ipv4 === undefined || ipv6 === undefined || linkLocal === undefined) throw new Error(`no address: ${stdout}`);
      const target = { ipv4, ipv6, linkLocal };
      const link = await hostEnd();
      const seen = await watchDefaultInterface(cluster(), victim);
      for (const who of ['a process of the node', 'another host-network pod']) {
        expect(await sendByLink(callers[who] as Run, 'ovn-k8s-mp0', target), who).toEqual([]);
        expect(await sendByLink(callers[who] as Run, link, target), who).toEqual([]);
      }
      // The kubelet may send to the pod's own addresses, and to nothing else there: so the watch does see what comes.
      const own = ['udp to its IPv4 address', 'udp to its IPv6 address'];
      expect(await sendByLink(inKubelet(NODE), 'ovn-k8s-mp0', target)).toEqual(own);
      expect(await sendByLink(inKubelet(NODE), link, target)).toEqual([]);
      await eventually(async () => expect(Object.keys(await seen()).toSorted()).toEqual(own));
    });

    it('while one of the default network is', async () => {
      const served = defaultAddresses(insider).flatMap((address): EntryPoint[] => [
        { protocol: 'tcp', address, port: 8080 },
        { protocol: 'icmp', address, port: 0 },
      ]);
      const all = served.map(entryPointName).sort();
      for (const who of ['a process of the node', 'another host-network pod', 'a process of another node']) {
        await eventually(async () => expect(await openEntryPoints(callers[who] as Run, served), who).toEqual(all));
      }
    });

    it('is open for everybody where it says so, until it says something else', async () => {
      await annotate(annotation(FIRST));
      await become(({ port }) => port === FIRST);
      await annotate(`- protocol: icmp\n- protocol: udp\n  port: ${SECOND}\n`);
      await become(({ protocol, port }) => protocol === 'icmp' || (protocol === 'udp' && port === SECOND));
      await annotate(`${annotation(SECOND)}- protocol: tcp\n  port: 99999\n`);
      await become(() => false);
      const events = await (await cluster().objects()).list('Event', victim.split('/')[0]);
      expect(JSON.stringify(events)).toMatch(/open-default-ports/);
    });

    it('keeps connections while other ports are opened and closed, and ends them with their own', async () => {
      await annotate(annotation(FIRST));
      await become(({ port }) => port === FIRST);
      const first = entryPoints.filter(({ port }) => port === FIRST);
      const held = await Promise.all(holders.map((who) => holdEntryPoints(callers[who] as Run, who, first)));
      try {
        const start = await lookAt(held);
        await annotate(annotation(FIRST) + annotation(SECOND));
        await become(({ port }) => port > 0);
        await annotate(annotation(FIRST));
        await become(({ port }) => port === FIRST);
        const now = await lookAt(held);
        expect(now.filter(({ missed }) => missed > 0)).toEqual([]);
        expect(now.filter(({ answered }, index) => answered <= (start[index]?.answered ?? 0))).toEqual([]);
        await annotate(annotation(SECOND));
        await become(({ port }) => port === SECOND);
        const over = async (): Promise<void> =>
          expect((await lookAt(held)).filter(({ isAlive }) => isAlive)).toEqual([]);
        await eventually(over, 30_000 * (await cluster().slowdown()));
      } finally {
        await Promise.all(held.map((one) => one.end()));
        await annotate('[]');
      }
    });
  });
};

const entryPointsOf = (of: ReachabilityPod, protocols: readonly PortProtocol[]): EntryPoint[] =>
  defaultAddresses(of).flatMap((address): EntryPoint[] => [
    ...protocols.flatMap((protocol) => [FIRST, SECOND].map((port) => ({ protocol, address, port }))),
    { protocol: 'icmp', address, port: 0 },
  ]);

/** @throws Error when it has not one of each family */
const defaultAddresses = ({ key, attachments }: ReachabilityPod): readonly Ip[] => {
  const found = attachments.find(({ network }) => network === 'default')?.addresses ?? [];
  for (const family of FAMILIES) {
    if (!found.some((ip) => ipFamily(ip) === family)) throw new Error(`${key} has no IPv${family} default address`);
  }
  return found;
};

const lookAt = async (held: readonly HeldEntryPoints[]): Promise<readonly (Held & { readonly name: string })[]> => {
  const looks = await Promise.all(held.map((one) => one.look()));
  return looks.flatMap((look, index) =>
    Object.entries(look).map(([entryPoint, one]) => ({ name: `${held[index]?.who}: ${entryPoint}`, ...one })),
  );
};
