/**
 * Keeps the gateway bridge and what is known of this node: looks again whenever the kernel, Open vSwitch or the Node says
 * that something changed. One look at a time; what changes meanwhile is seen by the next one.
 *
 * It needs no API server: where an earlier agent ended in the middle of a move, the API may be out of reach until the move
 * is completed.
 */
import { isDeepStrictEqual } from 'node:util';
import { unlessAborted } from '../../base/abort.ts';
import { messageOf } from '../../base/error-message.ts';
import type { NetlinkEvent } from '../../datapath/netlink/monitor/events.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import type { ObjectCache } from '../../kube/reflector/types.ts';
import { prefixLength } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import type { VswitchReplica } from '../databases/vswitch.ts';
import type { NodeProjection } from '../inputs/node-projection.ts';
import type { Problem } from '../inputs/problem.ts';
import type { FactStore } from '../model/fact-store.ts';
import { LOCAL } from '../model/facts.ts';
import type { NodeIdentity } from './annotations.ts';
import { encapProblems, tunnelMtu } from './encap-mtu.ts';
import { gatewayFact, type HostViewInputs, hostAddresses, MANAGEMENT_PREFIX } from './host-view.ts';
import { encapIpsOf } from './local-node.ts';
import { withRemembered } from './remembered.ts';
import { canAdvertise, canCheckMtu, chassisIdOf, concernsNode } from './switch-facts.ts';
import { mappingOperations } from './uplink/mapping-operations.ts';
import type { Bridge, HostSnapshot } from './uplink/types.ts';
import type { Uplink, UplinkState } from './uplink/uplink.ts';

export interface NodeKeeperOptions extends HostViewInputs {
  /** Said by whoever runs the agent; empty: the Node says. */
  readonly encapIps: readonly Ip[];
  /** Whether tunnels are. */
  readonly isEncrypted?: boolean;
  readonly uplink: Pick<Uplink, 'settle' | 'look' | 'bridges' | 'noteDown'>;
  readonly netlink: Pick<Netlink, 'watch'>;
  readonly session: Pick<OvsdbSession, 'transact'>;
  readonly replica: VswitchReplica;
  readonly nodes: ObjectCache<NodeProjection>;
  /** Somebody had changed the bridge mapping. */
  readonly onRepaired: () => void;
  /** A look failed, and is tried again. */
  readonly onError: (error: unknown) => void;
  /** Calls back after a while. */
  readonly later: (retry: () => void) => void;
}

export class NodeKeeper {
  readonly #options: NodeKeeperOptions;
  readonly #stop = new AbortController();
  readonly #known = Promise.withResolvers<void>();
  readonly #listeners = new Set<() => void>();
  #subscriptions: (() => void)[] = [];
  #seen: NodeIdentity;
  #problems: readonly Problem[] = [];
  /** While no gateway was seen: what the one that is remembered is completed from. */
  #bridges: readonly Bridge[] | undefined;
  /** Of the gateway bridge and its uplink. */
  #names: ReadonlySet<string> | undefined;
  /** The bridge that was mapped last. */
  #mapped: string | undefined;
  #isDirty = false;
  #running: Promise<void> | undefined;

  constructor(options: NodeKeeperOptions) {
    this.#options = options;
    const { node, encapIps, cluster, options: gateway } = options;
    this.#seen = {
      name: node,
      chassisId: undefined,
      encapIps,
      gateway: gateway.mode === 'disabled' ? 'disabled' : undefined,
      hostAddresses: undefined,
      masqueradeSubnets: cluster.masqueradeSubnets,
      canCheckMtu: undefined,
    };
  }

  start(): void {
    const { netlink, replica, nodes, node } = this.#options;
    this.#subscriptions = [
      netlink.watch((events) => {
        for (const event of events)
          if (event.kind === 'link' && !event.link.up) this.#options.uplink.noteDown(event.link.name);
        if (events.some((event) => this.#concerns(event))) this.#look();
      }),
      replica.onUpdate(({ kind, changes }) => {
        if (kind === 'replaced' || changes.some((change) => concernsNode(change, this.#names))) this.#look();
      }),
      nodes.subscribe(({ key }) => {
        if (key === node) this.#look();
      }),
    ];
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    await this.#running;
  }

  /**
   * Resolves after the first look, whatever it has found. After one that failed only when Open vSwitch could be read: else a
   * gateway that is remembered lacks what its flows need. @throws the signal's reason
   */
  whenKnown(signal: AbortSignal): Promise<void> {
    return unlessAborted(signal, this.#known.promise);
  }

  get identity(): NodeIdentity {
    const { node, nodes, replica } = this.#options;
    return withRemembered(this.#seen, {
      published: nodes.get(node),
      bridges: this.#bridges,
      canAdvertise: (bridge) => canAdvertise(replica, bridge),
    });
  }

  /** Otherwise it is as the node said before its agent ended, or not known. */
  get isGatewaySeen(): boolean {
    return this.#seen.gateway !== undefined;
  }

  /** What keeps the node from having a gateway, or from using it well. */
  problems(): readonly Problem[] {
    return this.#problems;
  }

  /** Called when `identity` has changed. @returns what ends it */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Keeps the facts about this node in the store. @returns what ends it */
  feed(facts: FactStore): () => void {
    const set = (): void => {
      const { name, gateway, hostAddresses: addresses, encapIps, tunnelMtu: mtu } = this.identity;
      facts.set('gateway', name, gateway === 'disabled' ? undefined : gateway);
      facts.set('hostAddresses', name, addresses);
      facts.set('encapIps', LOCAL, encapIps.length === 0 ? undefined : encapIps);
      facts.set('tunnelMtu', LOCAL, mtu);
    };
    set();
    return this.listen(set);
  }

  #look(): void {
    if (this.#stop.signal.aborted) return;
    this.#isDirty = true;
    this.#running ??= this.#lookWhileDirty();
  }

  async #lookWhileDirty(): Promise<void> {
    while (this.#isDirty && !this.#stop.signal.aborted) {
      // What happens in the same turn of the event loop is one change.
      await new Promise(setImmediate);
      this.#isDirty = false;
      await this.#lookOnce();
    }
    this.#running = undefined;
  }

  async #lookOnce(): Promise<void> {
    const { uplink, options, onError, later } = this.#options;
    const { signal } = this.#stop;
    try {
      this.#see(await (options.mode === 'disabled' ? uplink.look(signal) : uplink.settle(signal)));
      await this.#map();
    } catch (error) {
      if (signal.aborted) return;
      this.#notify([messageOf(error)]);
      onError(error);
      later(() => this.#look());
      await this.#readBridges();
    }
    if (this.isGatewaySeen || this.#bridges !== undefined) this.#known.resolve();
  }

  /** What failed may have been the kernel alone. */
  async #readBridges(): Promise<void> {
    if (this.isGatewaySeen) return;
    try {
      this.#bridges = await this.#options.uplink.bridges(this.#stop.signal);
    } catch {
      // The next look reads them, too.
    }
  }

  #see(state: UplinkState): void {
    const { options, replica, nodes, node, encapIps, cluster, isEncrypted = false } = this.#options;
    const { host } = state.world;
    const gateway = options.mode === 'disabled' ? 'disabled' : this.#gateway(state, host);
    const ips = encapIps.length > 0 ? encapIps : encapIpsOf(nodes.get(node));
    const isGatewayKnown = typeof gateway === 'object' || gateway === 'disabled';
    this.#bridges = state.world.switch.bridges;
    const seenIps = ips.length > 0 ? ips : this.#seen.encapIps;
    this.#change({
      ...this.#seen,
      chassisId: chassisIdOf(replica) ?? this.#seen.chassisId,
      // A gateway that is not to be seen at the moment is still desired where it was.
      gateway: isGatewayKnown ? gateway : this.#seen.gateway,
      hostAddresses: hostAddresses({ cluster }, host),
      encapIps: seenIps,
      canCheckMtu: canCheckMtu(replica),
      tunnelMtu: tunnelMtu({ encapIps: seenIps, isEncrypted }, host),
    });
    this.#notify(isGatewayKnown ? [] : [gateway], encapProblems({ encapIps: seenIps }, host));
  }

  #gateway(state: UplinkState, host: HostSnapshot): ReturnType<typeof gatewayFact> {
    if (state.kind === 'absent') return `no gateway bridge: ${state.error.message}`;
    if (state.kind === 'waiting') return `the gateway bridge waits for ${state.what}`;
    if (state.memory === undefined) return 'no gateway bridge';
    const { bridge, uplink } = state.memory;
    this.#names = new Set(uplink === undefined ? [bridge] : [bridge, uplink]);
    const fact = gatewayFact(this.#options, { bridge, uplink }, host);
    return typeof fact === 'string' || canAdvertise(this.#options.replica, bridge)
      ? fact
      : { ...fact, cannotAdvertise: true };
  }

  /** Others write the same entry for their networks, so it is no wish of ours alone. */
  async #map(): Promise<void> {
    const { replica, session, onRepaired } = this.#options;
    const { gateway } = this.#seen;
    const [row] = replica.rows('Open_vSwitch');
    if (gateway === undefined || row === undefined) return;
    const bridge = gateway === 'disabled' ? undefined : gateway.bridge;
    const operations = mappingOperations(row.external_ids, bridge);
    if (operations.length > 0) {
      await session.transact(operations, this.#stop.signal);
      if (bridge !== undefined && bridge === this.#mapped) onRepaired();
    }
    this.#mapped = bridge;
  }

  #change(identity: NodeIdentity): void {
    if (isDeepStrictEqual(identity, this.#seen)) return;
    this.#seen = identity;
    for (const listener of this.#listeners) listener();
  }

  #notify(errors: readonly string[], warnings: readonly string[] = []): void {
    const object = `Node/${this.#options.node}`;
    this.#problems = [
      ...errors.map((message) => ({ object, message })),
      ...warnings.map((message) => ({ object, message, severity: 'warning' as const })),
    ];
  }

  /** Links of pods and networks come and go all the time, and say nothing about the node. */
  #concerns(event: NetlinkEvent): boolean {
    const isOurs = (link: string | undefined): boolean =>
      this.#names === undefined || (link !== undefined && this.#names.has(link));
    switch (event.kind) {
      case 'link':
        return isOurs(event.link.name);
      case 'address':
        return !event.address.link.startsWith(MANAGEMENT_PREFIX);
      case 'route':
        return isOurs(event.route.dev) || prefixLength(event.route.dst) === 0;
      case 'lost':
        return true;
      default:
        return false;
    }
  }
}
