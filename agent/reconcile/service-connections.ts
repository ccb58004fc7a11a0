/**
 * Makes the kernel forget the connections of UDP and SCTP by which clients came to a node port or an external address that has
 * changed: nftables translate the first packet only, and whoever goes on to send would be led to the Service before for as long as
 * that lasts. Also one that was let through untranslated, before there was a Service. What OVN remembers ovn-controller forgets
 * (`ct_flush` of the load balancers). TCP is left, as kube-proxy leaves it: its clients hear that nobody is there.
 */
import type { Clock } from '../../base/clock.ts';
import {
  type Conntrack,
  type Opened,
  TRACKED_PROTOCOLS,
  type TrackedProtocol,
} from '../../datapath/conntrack/conntrack.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { setName } from '../model/registry/nftables.ts';

export interface ServiceConnectionsOptions {
  readonly conntrack: Pick<Conntrack, 'opened' | 'flushOpened'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 10_000;

/** One look after the other, each for all that has changed meanwhile: it goes through all connections of the protocol. */
export class ServiceConnections {
  readonly #options: ServiceConnectionsOptions;
  readonly #stop = new AbortController();
  #changed = new Map<string, EntryPoint>();
  #isNodePortIp: (ip: Ip) => boolean = () => false;
  #isBusy = false;
  #cancelRetry: (() => void) | undefined;

  constructor(options: ServiceConnectionsOptions) {
    this.#options = options;
  }

  /** @param keys of nftables that were written or removed just now @param has whether one is desired */
  written(keys: Iterable<string>, has: (key: string) => boolean): void {
    this.#isNodePortIp = (ip) => has(`element ${setName('nodePortIps', ipFamily(ip))} ${ip}`);
    for (const key of keys) {
      const entryPoint = entryPointOf(key);
      if (entryPoint !== undefined)
        this.#changed.set(`${entryPoint.protocol} ${entryPoint.family} ${whereOf(entryPoint)}`, entryPoint);
    }
    if (this.#changed.size > 0 && !this.#isBusy) void this.#forget();
  }

  stop(): void {
    this.#stop.abort();
    this.#cancelRetry?.();
  }

  async #forget(): Promise<void> {
    this.#isBusy = true;
    this.#cancelRetry?.();
    while (this.#changed.size > 0 && !this.#stop.signal.aborted) {
      const entryPoints = this.#changed;
      this.#changed = new Map();
      try {
        await this.#forgetAt([...entryPoints.values()]);
      } catch (error) {
        if (this.#stop.signal.aborted) break;
        this.#options.onError(error);
        this.#changed = new Map([...entryPoints, ...this.#changed]);
        this.#cancelRetry = this.#options.clock.schedule(RETRY_MS, () => void this.#forget());
        break;
      }
    }
    this.#isBusy = false;
  }

  async #forgetAt(entryPoints: readonly EntryPoint[]): Promise<void> {
    const { conntrack } = this.#options;
    for (const protocol of TRACKED_PROTOCOLS) {
      for (const family of FAMILIES) {
        const own = entryPoints.filter(
          (entryPoint) => entryPoint.protocol === protocol && entryPoint.family === family,
        );
        if (own.length === 0) continue;
        const opened = await conntrack.opened(protocol, family, this.#stop.signal);
        for (const to of connectionsTo(own, opened ?? [], this.#isNodePortIp)) {
          await conntrack.flushOpened(protocol, to, this.#stop.signal);
        }
      }
    }
  }
}

/** Where a Service is reached by the maps of nftables. */
export interface EntryPoint {
  readonly protocol: TrackedProtocol;
  readonly family: Family;
  /** Undefined: on all addresses of the node. */
  readonly ip?: string;
  readonly port: number;
}

/** Undefined for what is no element of these maps, and for TCP. */
export const entryPointOf = (key: string): EntryPoint | undefined => {
  const [kind, set = '', ...rest] = key.split(' ');
  const family = kind === 'element' ? MAPS.get(set) : undefined;
  if (family === undefined) return undefined;
  const parts = rest.join(' ').split(' . ');
  const port = Number(parts.at(-1));
  const protocol = TRACKED_PROTOCOLS.find((one) => one === parts.at(-2));
  const [ip] = parts.length === 3 ? parts : [];
  return protocol && { protocol, family, port, ...(ip !== undefined && { ip }) };
};

const MAPS: ReadonlyMap<string, Family> = new Map(
  FAMILIES.flatMap((family) =>
    (
      ['nodePorts', 'nodePortsLocal', 'externalIps', 'externalIpsLocal', 'internalToHost', 'internalToMark'] as const
    ).map((which) => [setName(which, family), family] as const),
  ),
);

/**
 * Those that were opened to one of these entry points, of one protocol and family, each address and port once. At a node
 * port's number only what was translated, or is for the node: others have their own ports of this number.
 */
export const connectionsTo = (
  entryPoints: readonly EntryPoint[],
  opened: readonly Opened[],
  isNodePortIp: (ip: Ip) => boolean,
): readonly Opened[] => {
  const where = new Set(entryPoints.map(whereOf));
  const found = opened.filter(
    ({ ip, port, isTranslated }) =>
      where.has(`${ip} ${port}`) || (where.has(`${port}`) && (isTranslated || isNodePortIp(ip))),
  );
  return [...new Map(found.map((one) => [`${one.ip} ${one.port}`, one])).values()];
};

const whereOf = ({ ip, port }: Pick<EntryPoint, 'ip' | 'port'>): string =>
  ip === undefined ? `${port}` : `${ip} ${port}`;
