/**
 * Whether packets reach other nodes through the overlay, and come back. ovn-controller sets BFD itself, and only for chassis of
 * high-availability groups, so a TCP connection is asked for at the management address of the other node: whether something listens
 * there or the kernel refuses it, the answer has crossed both tunnels. Each node is asked every half minute, a few at a time.
 */
import type { Clock } from '../../base/clock.ts';
import type { Ip } from '../../net/ip.ts';
import type { ComponentHealth } from './component.ts';

export interface TunnelPeer {
  readonly node: string;
  /** Of its management port on the default network. */
  readonly address: Ip;
  /** Where its tunnels end. */
  readonly encapIps: readonly Ip[];
}

export interface TunnelProbeOptions {
  /** Nodes whose part of the default network is known. */
  readonly peers: () => readonly TunnelPeer[];
  /** Resolves when the other end answers, whatever. Rejects when nothing came, or when the signal aborts. */
  readonly connect: (address: Ip, port: number, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
}

/** Kubelets listen here; where none does, the kernel of the node refuses the connection. */
const KUBELET_PORT = 10_250;
const ROUND_MS = 3_000;
const ROUNDS = 10;
/** A lost packet is sent again after one second. */
const ANSWER_MS = 4_000;
/** Rounds of silence, one after the other. */
const PATIENCE = 2;
/** Of how many nodes the message has the names. */
const MAX_NAMED = 5;

export class TunnelProbe {
  readonly #options: TunnelProbeOptions;
  readonly #stop = new AbortController();
  /** Rounds without an answer, of nodes that were asked. */
  readonly #silences = new Map<string, number>();
  #next = 0;
  #cancel = (): void => undefined;

  constructor(options: TunnelProbeOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancel();
  }

  health(): ComponentHealth {
    const peers = this.#options.peers();
    const silent = peers.filter(({ node }) => (this.#silences.get(node) ?? 0) >= PATIENCE);
    if (silent.length > 0) return { component: 'tunnels', state: 'failed', message: messageOf(silent, peers.length) };
    const unasked = peers.filter(({ node }) => !this.#silences.has(node)).length;
    if (unasked === 0) return { component: 'tunnels', state: 'working', message: '' };
    return {
      component: 'tunnels',
      state: 'unknown',
      message: `${unasked} of ${peers.length} nodes were not checked yet`,
    };
  }

  async #run(): Promise<void> {
    const peers = this.#options.peers();
    this.#forgetOthers(peers);
    await Promise.all(this.#slice(peers).map((peer) => this.#ask(peer)));
    if (!this.#stop.signal.aborted) this.#cancel = this.#options.clock.schedule(ROUND_MS, () => void this.#run());
  }

  /** The next tenth of them, and who did not answer the last time. */
  #slice(peers: readonly TunnelPeer[]): readonly TunnelPeer[] {
    const size = Math.ceil(peers.length / ROUNDS);
    const start = this.#next >= peers.length ? 0 : this.#next;
    this.#next = start + size;
    const turn = new Set(peers.slice(start, start + size));
    const again = peers.filter((peer) => !turn.has(peer) && (this.#silences.get(peer.node) ?? 0) > 0).slice(0, size);
    return [...turn, ...again];
  }

  #forgetOthers(peers: readonly TunnelPeer[]): void {
    const names = new Set(peers.map(({ node }) => node));
    for (const node of this.#silences.keys()) if (!names.has(node)) this.#silences.delete(node);
  }

  async #ask({ node, address }: TunnelPeer): Promise<void> {
    const late = new AbortController();
    const cancel = this.#options.clock.schedule(ANSWER_MS, () => setImmediate(() => late.abort()));
    try {
      await this.#options.connect(address, KUBELET_PORT, AbortSignal.any([late.signal, this.#stop.signal]));
      this.#silences.set(node, 0);
    } catch {
      this.#silences.set(node, (this.#silences.get(node) ?? 0) + 1);
    } finally {
      cancel();
    }
  }
}

const messageOf = (silent: readonly TunnelPeer[], all: number): string => {
  const named = silent
    .slice(0, MAX_NAMED)
    .map(({ node, encapIps }) => `${node} (${encapIps.join(', ')})`)
    .join(', ');
  const rest = silent.length > MAX_NAMED ? ' and others' : '';
  return `${silent.length} of ${all} nodes do not answer through their tunnels: ${named}${rest}; the node is down, or UDP port 6081 does not pass between them`;
};
