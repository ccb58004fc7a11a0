/**
 * Which nodes this one has no protected way to. Nothing goes to them in clear (features/host-nftables/tunnels.ts): nothing goes at all.
 * The kernel is asked, as only it says what is in effect; once in a while, as an exchange that fails leaves no event.
 */
import type { OutgoingUdp, Xfrm } from '../../datapath/xfrm/xfrm.ts';
import type { Clock } from '../../kube/clock.ts';
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
  readonly clock: Pick<Clock, 'schedule'>;
  readonly onError: (error: unknown) => void;
}

export interface PeerWatch {
  problems(): readonly Problem[];
  stop(): void;
}

const LOOK_MS = 15_000;

/** Why nothing goes to a peer. */
type Lack = 'policy' | 'association';

const MESSAGES: Readonly<Record<Lack, string>> = {
  policy: 'there is no IPsec policy for it; ovs-monitor-ipsec and strongSwan have to run here',
  association: 'the other end does not agree on IPsec; both need certificates of one authority, and strongSwan',
};

export const watchPeers = (options: PeerWatchOptions): PeerWatch => {
  const stop = new AbortController();
  let cancel = (): void => undefined;
  let problems: readonly Problem[] = [];
  let before: ReadonlySet<string> = new Set();
  const look = async (): Promise<void> => {
    try {
      const lacks = await lacking(options, stop.signal);
      // What is under way is no problem yet.
      problems = lacks.filter((one) => before.has(keyOf(one))).map((one) => problemOf(options.node, one));
      before = new Set(lacks.map(keyOf));
    } catch (error) {
      if (!stop.signal.aborted) options.onError(error);
    }
    if (!stop.signal.aborted) cancel = options.clock.schedule(LOOK_MS, () => void look());
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
}

const lacking = async ({ xfrm, ends }: PeerWatchOptions, signal: AbortSignal): Promise<LackingPeer[]> => {
  const [policies, { asked, present }] = await Promise.all([xfrm.policies(signal), xfrm.associations(signal)]);
  const { local, peers } = ends();
  const families = new Set(local.map(ipFamily));
  return peers
    .filter(({ ip }) => families.has(ipFamily(ip)))
    .flatMap((peer): LackingPeer[] => {
      if (!policies.some((policy) => protects(policy, local, peer))) return [{ ...peer, lack: 'policy' }];
      return asked.has(peer.ip) && !present.has(peer.ip) ? [{ ...peer, lack: 'association' }] : [];
    });
};

const protects = ({ src, dst, port }: OutgoingUdp, local: readonly Ip[], { ip }: Peer): boolean =>
  dst === ip && port === GENEVE.port && local.includes(src);

const keyOf = ({ node, ip, lack }: LackingPeer): string => `${node} ${ip} ${lack}`;

const problemOf = (node: string, peer: LackingPeer): Problem => ({
  object: `Node/${node}`,
  message: `nothing can be sent to pods of node ${peer.node} (${peer.ip}): ${MESSAGES[peer.lack]}`,
});
