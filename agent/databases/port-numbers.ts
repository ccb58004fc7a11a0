/** The OpenFlow numbers of ports, as ovs-vswitchd writes them into the Open_vSwitch database, by event. */
import type { RowChange } from '../../ovsdb/replica/row.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';
import { INTERFACE_BY_NAME, type VswitchReplica } from './vswitch.ts';

export class VswitchPortNumbers {
  readonly #replica: VswitchReplica;

  constructor(replica: VswitchReplica) {
    this.#replica = replica;
  }

  /** Undefined while the bridge has no such port, or ovs-vswitchd could not open it. */
  ofport(bridge: string, port: string): number | undefined {
    const found = this.#replica.findOne('Interface', INTERFACE_BY_NAME, port);
    if (found?.ofport === undefined || found.ofport < 0) return undefined;
    return this.#bridgeOf(found._uuid) === bridge ? found.ofport : undefined;
  }

  hasBridge(bridge: string): boolean {
    // The bridge's own port has a number when ovs-vswitchd has made the bridge.
    const own = this.#replica.findOne('Interface', INTERFACE_BY_NAME, bridge);
    return own?.ofport !== undefined && own.ofport >= 0;
  }

  /** Called with the names of ports whose number, bridge or existence has changed. @returns what ends it */
  listen(listener: (ports: ReadonlySet<string>) => void): () => void {
    return this.#replica.onUpdate(({ kind, changes }) => {
      const ports = new Set(changes.flatMap(changedPorts));
      if (kind === 'replaced' || ports.size > 0) listener(ports);
    });
  }

  /** Interface → port → bridge. */
  #bridgeOf(portInterface: Uuid): string | undefined {
    const { store } = this.#replica;
    const [port] = store.parentsOf(portInterface);
    const [bridge] = port === undefined ? [] : store.parentsOf(port);
    return bridge === undefined ? undefined : this.#replica.get('Bridge', bridge)?.name;
  }
}

const changedPorts = ({ table, before, after, columns }: RowChange): string[] => {
  if (table !== 'Interface') return [];
  if (before !== undefined && after !== undefined && !columns.includes('ofport')) return [];
  return [before, after].flatMap((row) => (typeof row?.['name'] === 'string' ? [row['name']] : []));
};

/**
 * With the sandboxes of pods that they were of, also when only their logical port is removed, without which ovn-controller unbinds
 * it. Rows that a database lacks which was away are among them.
 * @returns what ends it
 */
export const whenPodPortsGo = (
  replica: VswitchReplica,
  listener: (sandboxes: readonly string[]) => void,
): (() => void) =>
  replica.onUpdate(({ changes }) => {
    const sandboxes = changes.flatMap(goneSandbox);
    if (sandboxes.length > 0) listener(sandboxes);
  });

const goneSandbox = ({ table, before, after }: RowChange): string[] => {
  if (table !== 'Interface') return [];
  const { sandbox, 'iface-id': logicalPort } = idsOf(before);
  if (sandbox === undefined || logicalPort === undefined) return [];
  return idsOf(after)['iface-id'] === undefined ? [sandbox] : [];
};

const idsOf = (row: RowChange['before']): Readonly<Record<string, string>> =>
  (row?.['external_ids'] ?? {}) as Readonly<Record<string, string>>;
