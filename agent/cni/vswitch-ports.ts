/**
 * Ports of pods in the Open_vSwitch database. Each change is planned against the replica and repeated after a lost
 * connection, when the replica knows again what has become of it.
 */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { NotConnectedError, OutcomeUnknownError, WaitTimedOutError } from '../../ovsdb/errors.ts';
import type { OvsdbSession } from '../../ovsdb/session/session.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { INTERFACE_BY_LOGICAL_PORT, INTERFACE_BY_SANDBOX, type VswitchReplica } from '../databases/vswitch.ts';
import { POD_PORT_KEY } from '../model/ownership.ts';
import type { OvsPorts, PluggedPort, PortSpec } from './ovs-ports.ts';
import { INTEGRATION_BRIDGE, isAsDesired, plugOperations, unplugOperations } from './vswitch-operations.ts';

export class BridgeMissingError extends Error {
  override readonly name = 'BridgeMissingError';
}

export class PortGoneError extends Error {
  override readonly name = 'PortGoneError';
}

export class VswitchPorts implements OvsPorts {
  readonly #session: Pick<OvsdbSession, 'transact'>;
  readonly #replica: VswitchReplica;

  constructor(session: Pick<OvsdbSession, 'transact'>, replica: VswitchReplica) {
    this.#session = session;
    this.#replica = replica;
  }

  async plug(ports: readonly PortSpec[], signal: AbortSignal): Promise<void> {
    await this.#change(() => {
      const missing = ports.filter((port) => !this.#isPlugged(port));
      const stale = missing.flatMap((port) => this.#inTheWayOf(port));
      return missing.length === 0 ? [] : [...this.#detach(stale), ...plugOperations(missing)];
    }, signal);
  }

  async unplug(names: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#change(() => this.#detach(names), signal);
  }

  untilOpened(ports: readonly PortSpec[], signal: AbortSignal): Promise<void> {
    return this.#untilEach(ports, isOpened, signal);
  }

  untilInstalled(ports: readonly PortSpec[], signal: AbortSignal): Promise<void> {
    return this.#untilEach(ports, isInstalled, signal);
  }

  ofSandbox(sandbox: string): readonly PluggedPort[] {
    return this.#replica.find('Interface', INTERFACE_BY_SANDBOX, sandbox).flatMap(pluggedPort);
  }

  all(): readonly PluggedPort[] {
    return [...this.#replica.rows('Interface')].flatMap(pluggedPort);
  }

  isReady(): boolean {
    return this.#replica.synced && this.#bridge() !== undefined;
  }

  isUserspace(): boolean {
    return this.#bridge()?.datapath_type === 'netdev';
  }

  async #untilEach(ports: readonly PortSpec[], test: PortTest, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const both = AbortSignal.any([signal, done.signal]);
    try {
      await Promise.all(ports.map((port) => this.#until(port, test, both)));
    } finally {
      done.abort();
    }
  }

  async #until(port: PortSpec, test: PortTest, signal: AbortSignal): Promise<void> {
    const address = { index: 'name', key: port.name };
    const gone = this.#replica.waitUntilGone('Interface', address, signal).then(() => {
      throw new PortGoneError(`OVS port ${port.name} was removed while ovn-controller was installing it`);
    });
    const reached = this.#replica.waitFor('Interface', address, (row) => test(row, port), signal);
    reached.catch(() => undefined);
    await Promise.race([reached, gone]);
  }

  /**
   * A transaction that was sent is awaited also when `signal` aborts: who gave up takes back what is in the replica, and a
   * port that came after that would stay.
   */
  async #change(plan: () => readonly Operation[], signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#replica.whenSynced(signal);
      const operations = plan();
      if (operations.length === 0) return;
      try {
        await this.#session.transact(operations);
        return;
      } catch (error) {
        if (error instanceof WaitTimedOutError)
          throw new BridgeMissingError(`bridge ${INTEGRATION_BRIDGE} does not exist yet`);
        const isWorthAnother = error instanceof NotConnectedError || error instanceof OutcomeUnknownError;
        if (!isWorthAnother) throw error;
        signal.throwIfAborted();
        // The session says it is disconnected before it fails what was under way, so this waits for the next connection.
      }
    }
  }

  /** Ports that have the name, or are of the same logical port. */
  #inTheWayOf({ name, logicalPort }: PortSpec): string[] {
    const others = this.#replica.find('Interface', INTERFACE_BY_LOGICAL_PORT, logicalPort).map((row) => row.name);
    return [name, ...others];
  }

  /** Of these names those that are ours: whatever else has one of them stays. */
  #detach(names: readonly string[]): Operation[] {
    const ours = [...new Set(names)].filter((name) => {
      const row = this.#replica.findOne('Interface', 'name', name);
      return row !== undefined && isOurs(row);
    });
    return unplugOperations(ours.flatMap((name) => this.#replica.findOne('Port', 'name', name)?._uuid ?? []));
  }

  #isPlugged(port: PortSpec): boolean {
    const row = this.#replica.findOne('Interface', 'name', port.name);
    return row !== undefined && isAsDesired(row.external_ids, port);
  }

  #bridge() {
    return this.#replica.findOne('Bridge', 'name', INTEGRATION_BRIDGE);
  }
}

interface InterfaceRow {
  readonly name: string;
  readonly external_ids: Readonly<Record<string, string>>;
  readonly error: string | undefined;
  readonly ofport: number | undefined;
}

type PortTest = (row: InterfaceRow, port: PortSpec) => boolean;

/** ovs-vswitchd.conf.db(5): `ofport` is set when the datapath has the link, and -1 when it could not be added. */
const isOpened = ({ external_ids: ids, ofport = -1 }: InterfaceRow, port: PortSpec): boolean =>
  ofport > 0 && isAsDesired(ids, port);

/** ovn-controller(8): `ovn-installed` is set when the flows of the bound port are there. */
const isInstalled = ({ external_ids: ids }: InterfaceRow, port?: PortSpec): boolean =>
  ids['ovn-installed'] === 'true' && (port === undefined || isAsDesired(ids, port));

const isOurs = ({ external_ids: ids }: Pick<InterfaceRow, 'external_ids'>): boolean => ids[POD_PORT_KEY] !== undefined;

/** Other CNI plugins name sandboxes, too. */
const pluggedPort = (row: InterfaceRow): PluggedPort[] => {
  const { sandbox, 'iface-id': logicalPort = '', 'iface-id-ver': podUid = '' } = row.external_ids;
  const { 'pod-if-name': interfaceName = '', 'k8s.ovn.org/nad': nadKey = DEFAULT_NETWORK_NAME } = row.external_ids;
  if (sandbox === undefined || !isOurs(row)) return [];
  const { name, error } = row;
  return [{ name, sandbox, logicalPort, podUid, interfaceName, nadKey, isInstalled: isInstalled(row), error }];
};
