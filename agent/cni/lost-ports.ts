/**
 * Pods that run and whose ports somebody has taken away, with `ovs-vsctl del-port` or the whole bridge: they have no network, and nothing
 * but their links on the node says that they had one. Links are read at the start and after ports have gone, and again so long as a
 * pod lacks its port.
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
  /** Calls back when ports have gone, or may have while the database was away. @returns what ends it */
  readonly onPortsGone: (listener: () => void) => () => void;
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
  const { ports, pods, clock, report, onError, onPortsGone } = options;
  let isStopped = false;
  let cancel: (() => void) | undefined;
  /** Of the look before: a sandbox may be about to go, and is not lost before it is seen twice. */
  let seen: ReadonlyMap<string, Loss> = new Map();
  let lost: ReadonlyMap<string, Loss> = new Map();
  const compare = async (): Promise<void> => {
    const { found, isAny } = await lossesOf(options);
    if (isStopped) return;
    if (isAny) later();
    const before = lost;
    lost = new Map([...found].filter(([uid]) => seen.has(uid)));
    seen = found;
    for (const [uid, loss] of lost) if (!before.has(uid)) report(loss.pod, textOf(loss));
  };
  const look = async (): Promise<void> => {
    cancel = undefined;
    try {
      // What a database that is away does not say is not taken away.
      if (ports.isReady()) await compare();
      else later();
    } catch (error) {
      if (!isStopped) onError(error);
      later();
    }
  };
  const later = (): void => {
    if (!isStopped) cancel ??= clock.schedule(LOOK_MS, () => void look());
  };
  const unlisten = onPortsGone(later);
  later();
  return {
    problems: () => {
      const known = new Set(Array.from(pods(), ({ pod }) => pod.uid));
      return [...lost.values()].filter(({ pod }) => known.has(pod.uid)).map(problemOf);
    },
    stop: () => {
      isStopped = true;
      unlisten();
      cancel?.();
    },
  };
};

const problemOf = (loss: Loss): Problem => ({
  object: `Pod/${loss.pod.namespace}/${loss.pod.name}`,
  message: textOf(loss),
  cause: 'port-removed',
});

interface Losses {
  /** By the pod's UID. */
  readonly found: ReadonlyMap<string, Loss>;
  /** Some link has no port, be its pod known already or not. */
  readonly isAny: boolean;
}

/** A port of a later sandbox of the pod takes the place of an earlier one's. */
const lossesOf = async ({ netlink, ports, pods, isBusy }: LostPortsOptions): Promise<Losses> => {
  const { links } = await netlink.read({ links: true });
  const plugged = new Set(ports.all().map(({ podUid, interfaceName }) => `${podUid} ${interfaceName}`));
  const known = new Map(Array.from(pods(), ({ pod }) => [pod.uid, pod]));
  const losses = new Map<string, Loss>();
  let isAny = false;
  for (const { alias } of links) {
    const owner = parseAlias(alias);
    if (owner === undefined || plugged.has(`${owner.podUid} ${owner.interfaceName}`)) continue;
    isAny = true;
    const pod = known.get(owner.podUid);
    if (pod === undefined || isBusy(owner.containerId)) continue;
    const interfaces = [...(losses.get(pod.uid)?.interfaces ?? []), owner.interfaceName];
    losses.set(pod.uid, { pod, interfaces: [...new Set(interfaces)] });
  }
  return { found: losses, isAny };
};

const textOf = ({ interfaces }: Loss): string =>
  `its ports in Open vSwitch were removed, and it has no network any more on ${interfaces.join(', ')}: recreate the pod`;
