/** The node's own ports, as a place that is kept as desired: servers are opened and closed, claims are looked at. */
import type { Backend, ReconcileOutcome, ReconcileRequest } from '../../datapath/backend.ts';
import type { HealthCheck, NodePortItem, PortClaim } from '../model/node-ports.ts';
import { clashFinder } from './clashes.ts';
import { HealthServer } from './health-server.ts';
import type { Listener } from './listeners.ts';

export interface NodePortEdges {
  readonly isHealthy: () => boolean;
  readonly readListeners: () => Promise<readonly Listener[]>;
}

/** @param node its name, for people */
export class NodePortBackend implements Backend<NodePortItem> {
  readonly #node: string;
  readonly #edges: NodePortEdges;
  readonly #servers = new Map<string, HealthServer>();

  constructor(node: string, edges: NodePortEdges) {
    this.#node = node;
    this.#edges = edges;
  }

  /** How many servers there are. */
  get serving(): number {
    return this.#servers.size;
  }

  async reconcile({ desired, keys }: ReconcileRequest<NodePortItem>, signal: AbortSignal): Promise<ReconcileOutcome> {
    const looked = keys === 'all' ? new Set([...desired.keys(), ...this.#servers.keys()]) : keys;
    const items = [...looked].flatMap((key): (readonly [string, NodePortItem])[] => {
      const item = desired.get(key);
      return item === undefined ? [] : [[key, item]];
    });
    // Before others are opened: a port may have gone from one Service to another.
    let written = await this.#closeStale(looked, desired);
    const failed = new Map<string, string>();
    for (const [key, item] of items) {
      if (signal.aborted) break;
      if (item.kind !== 'health-check') continue;
      try {
        if (await this.#serve(key, item)) written++;
      } catch (error) {
        failed.set(key, this.#cannotServe(item, error));
      }
    }
    const claims = items.flatMap(([key, item]) => (item.kind === 'claim' ? [[key, item] as const] : []));
    return { written, failed, waiting: await this.#clashes(claims) };
  }

  /** Who listens where is seen when somebody looks. */
  listen(): () => void {
    return () => undefined;
  }

  async close(): Promise<void> {
    await this.#closeStale(new Set(this.#servers.keys()), new Map());
  }

  /** @returns how many were closed */
  async #closeStale(keys: ReadonlySet<string>, desired: ReadonlyMap<string, NodePortItem>): Promise<number> {
    const closing = [...keys].flatMap((key) => {
      const server = this.#servers.get(key);
      const item = desired.get(key);
      if (server === undefined || (item?.kind === 'health-check' && item.port === server.check.port)) return [];
      this.#servers.delete(key);
      return [server.close()];
    });
    await Promise.all(closing);
    return closing.length;
  }

  /** @returns whether one was opened @throws when its port cannot be listened on */
  async #serve(key: string, check: HealthCheck): Promise<boolean> {
    const server = this.#servers.get(key);
    if (server === undefined) this.#servers.set(key, await HealthServer.open(check, this.#edges.isHealthy));
    else server.check = check;
    return server === undefined;
  }

  #cannotServe({ port }: HealthCheck, error: unknown): string {
    const { code, message } = error as NodeJS.ErrnoException;
    const because = code === 'EADDRINUSE' ? 'another process listens on it' : message;
    return `load balancers get no health check of its endpoints on node ${this.#node}: TCP port ${port} cannot be opened: ${because}`;
  }

  async #clashes(claims: readonly (readonly [string, PortClaim])[]): Promise<ReadonlyMap<string, string>> {
    if (claims.length === 0) return new Map();
    const find = clashFinder(await this.#edges.readListeners());
    return new Map(
      claims.flatMap(([key, claim]) => {
        const listener = find(claim);
        return listener === undefined ? [] : [[key, this.#isTaken(claim, listener)] as const];
      }),
    );
  }

  #isTaken({ object, protocol, port, ip }: PortClaim, listener: Listener): string {
    const whose = object.startsWith('Pod/') ? 'pod' : 'Service';
    const what = ip === undefined ? `node port ${port}` : `port ${port} of its address ${ip}`;
    const where = listener.ip.includes(':') ? `[${listener.ip}]:${port}` : `${listener.ip}:${port}`;
    return `a process of node ${this.#node} listens on ${protocol} ${where}: traffic to ${what} goes to this ${whose}, not to that process`;
  }
}
