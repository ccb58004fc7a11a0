/**
 * Pods that run and whose ports somebody has taken away, with `ovs-vsctl del-port` or the whole bridge: they have no network, and nothing
 * but their links on the node says that they had one. Links are read once in a while: no row is desired that an event would be about.
 */
import type { Clock } from '../../base/clock.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import type { Problem } from '../inputs/problem.ts';
import type { PodAttachments } from '../model/attachments.ts';
import type { OvsPorts } from './ovs-ports.ts';
import { parseAlias } from './plumbing.ts';

export interface LostPortsOptions {
  readonly netlink: Pick<Netlink, 'read'>;
  readonly ports: Pick<OvsPorts, 'all' | 'isReady'>;
  readonly pods: () => Iterable<Pick<PodAttachments, 'pod'>>;
  /** A CNI call of this sandbox is under way. */
  readonly isBusy: (sandbox: string) => boolean;
  readonly clock: Pick<Clock, 'schedule'>;
  /** Once for each pod. */
  readonly report: (pod: PodAttachments['pod'], message: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface LostPorts {
  problems(): readonly Problem[];
  stop(): void;
}

const LOOK_MS = 10_000;

interface Loss {
  readonly pod: PodAttachments['pod'];
  readonly interfaces: readonly string[];
}

export const watchLostPorts = (options: LostPortsOptions): LostPorts => {
  const { ports, clock, report, onError } = options;
  let isStopped = false;
  let cancel = (): void => undefined;
  /** Of the look before: a sandbox may be about to go, and is not lost before it is seen twice. */
  let seen: ReadonlyMap<string, Loss> = new Map();
  let lost: ReadonlyMap<string, Loss> = new Map();
  const compare = async (): Promise<void> => {
    const found = await lossesOf(options);
    if (isStopped) return;
    const before = lost;
    lost = new Map([...found].filter(([uid]) => seen.has(uid)));
    seen = found;
    for (const [uid, loss] of lost) if (!before.has(uid)) report(loss.pod, textOf(loss));
  };
  const look = async (): Promise<void> => {
    try {
      // What a database that is away does not say is not taken away.
      if (ports.isReady()) await compare();
    } catch (error) {
      if (!isStopped) onError(error);
    }
    if (!isStopped) cancel = clock.schedule(LOOK_MS, () => void look());
  };
  void look();
  return {
    problems: () =>
      [...lost.values()].map((loss) => ({
        object: `Pod/${loss.pod.namespace}/${loss.pod.name}`,
        message: textOf(loss),
        cause: 'port-removed',
      })),
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
};

/** By the pod's UID. A port of a later sandbox of the pod takes the place of an earlier one's. */
const lossesOf = async ({ netlink, ports, pods, isBusy }: LostPortsOptions): Promise<ReadonlyMap<string, Loss>> => {
  const { links } = await netlink.read({ links: true });
  const plugged = new Set(ports.all().map(({ podUid, interfaceName }) => `${podUid} ${interfaceName}`));
  const known = new Map(Array.from(pods(), ({ pod }) => [pod.uid, pod]));
  const losses = new Map<string, Loss>();
  for (const { alias } of links) {
    const owner = parseAlias(alias);
    const pod = known.get(owner?.podUid ?? '');
    if (owner === undefined || pod === undefined || isBusy(owner.containerId)) continue;
    if (plugged.has(`${pod.uid} ${owner.interfaceName}`)) continue;
    const interfaces = [...(losses.get(pod.uid)?.interfaces ?? []), owner.interfaceName];
    losses.set(pod.uid, { pod, interfaces: [...new Set(interfaces)] });
  }
  return losses;
};

const textOf = ({ interfaces }: Loss): string =>
  `its ports in Open vSwitch were removed, and it has no network any more on ${interfaces.join(', ')}: recreate the pod`;
