/**
 * Which nodes this one has no protected way to. Nothing goes to them in clear (features/host-nftables/tunnels.ts): nothing goes at all.
 * The kernel is asked, as only it says what is in effect; once in a while, as an exchange that fails leaves no event.
 *
 * It is also made to begin: a peer whose other end lost its power goes on with an association that nobody has any more, until that end
 * begins a new one. strongSwan would wait for the first packet.
 */
import type { Clock } from '../../base/clock.ts';
import type { OutgoingUdp, Xfrm } from '../../datapath/xfrm/xfrm.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import type { Problem } from '../inputs/problem.ts';
import { GENEVE } from '../model/registry/tunnels.ts';

export interface Peer {
  readonly node: string;
  readonly ip: Ip;
}

export interface PeerWatchOptions {
  readonly node: string;
  readonly xfrm: Xfrm;
  /** Where tunnels end here, and those of other nodes there. */
  readonly ends: () => { readonly local: readonly Ip[]; readonly peers: readonly Peer[] };
  /** Makes the kernel ask for an association. */
  readonly knock: (from: Ip, to: Ip) => void;
  readonly clock: Pick<Clock, 'schedule'>;
  readonly onError: (error: unknown) => void;
}

export interface PeerWatch {
  problems(): readonly Problem[];
  stop(): void;
}

const LOOK_MS = 15_000;
/** While something is lacking. */
const SOON_MS = 3_000;
/** At a time: a node that boots has as many exchanges as there are nodes. */
const MAX_KNOCKS = 16;
/** Looks at what lacks until it is a problem: an exchange takes a second, and daemons that start a few. */
const PATIENCE = 5;

/** Why nothing goes to a peer. */
type Lack = 'policy' | 'association';

const MESSAGES: Readonly<Record<Lack, string>> = {
  policy: 'no IPsec policy exists for it; ovs-monitor-ipsec and strongSwan must run here',
  association: 'no IPsec security association with it; both ends need strongSwan and certificates of one authority',
};

export const watchPeers = (options: PeerWatchOptions): PeerWatch => {
  const stop = new AbortController();
  let cancel = (): void => undefined;
  let problems: readonly Problem[] = [];
  /** How often each was seen lacking, one after the other. */
  let before: ReadonlyMap<string, number> = new Map();
  const look = async (): Promise<void> => {
    try {
      const lacks = await lacking(options, stop.signal);
      knockAt(options, lacks);
      const keys = lacks.map(keyOf);
      // What is under way is no problem yet.
      problems = lacks
        .filter((one) => (before.get(keyOf(one)) ?? 0) >= PATIENCE)
        .map((one) => problemOf(options.node, one));
      before = new Map(keys.map((key) => [key, (before.get(key) ?? 0) + 1]));
    } catch (error) {
      if (!stop.signal.aborted) options.onError(error);
    }
    const next = before.size > 0 ? SOON_MS : LOOK_MS;
    if (!stop.signal.aborted) cancel = options.clock.schedule(next, () => void look());
  };
  void look();
  return {
    problems: () => problems,
    stop: () => {
      stop.abort();
      cancel();
    },
  };
};

interface LackingPeer extends Peer {
  readonly lack: Lack;
  readonly isAsked: boolean;
}

const knockAt = ({ ends, knock }: PeerWatchOptions, lacks: readonly LackingPeer[]): void => {
  const { local } = ends();
  const waiting = lacks.filter(({ lack, isAsked }) => lack === 'association' && !isAsked);
  for (const { ip } of waiting.slice(0, MAX_KNOCKS)) {
    const from = local.find((one) => ipFamily(one) === ipFamily(ip));
    if (from !== undefined) knock(from, ip);
  }
};

const lacking = async ({ xfrm, ends }: PeerWatchOptions, signal: AbortSignal): Promise<LackingPeer[]> => {
  const [policies, { asked, present }] = await Promise.all([xfrm.policies(signal), xfrm.associations(signal)]);
  const { local, peers } = ends();
  const families = new Set(local.map(ipFamily));
  return peers
    .filter(({ ip }) => families.has(ipFamily(ip)))
    .flatMap((peer): LackingPeer[] => {
      const isAsked = asked.has(peer.ip);
      if (!policies.some((policy) => protects(policy, local, peer))) return [{ ...peer, isAsked, lack: 'policy' }];
      return present.has(peer.ip) ? [] : [{ ...peer, isAsked, lack: 'association' }];
    });
};

const protects = ({ src, dst, port }: OutgoingUdp, local: readonly Ip[], { ip }: Peer): boolean =>
  dst === ip && port === GENEVE.port && local.includes(src);

const keyOf = ({ node, ip, lack }: LackingPeer): string => `${node} ${ip} ${lack}`;

const problemOf = (node: string, peer: LackingPeer): Problem => ({
  object: `Node/${node}`,
  message: `no traffic reaches pods of node ${peer.node} (${peer.ip}): ${MESSAGES[peer.lack]}`,
});
