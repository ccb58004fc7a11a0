/** OVS ports in memory: at most one of each name, and of each logical port. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { OvsPorts, PluggedPort, PortSpec } from '../cni/ovs-ports.ts';

export class FakePorts implements OvsPorts {
  /** Whether ovn-controller is alive. */
  installs = true;
  transactions = 0;
  userspace = false;
  /** What ovs-vswitchd does to links before their ports have numbers. */
  onOpen = (_names: readonly string[]): void => {};
  readonly #ports = new Map<string, PluggedPort>();

  async plug(ports: readonly PortSpec[]): Promise<void> {
    await Promise.resolve();
    const missing = ports.filter(({ name, sandbox }) => this.#ports.get(name)?.sandbox !== sandbox);
    if (missing.length === 0) return;
    this.transactions += 1;
    for (const { name, sandbox, logicalPort, podUid, interfaceName, network } of missing) {
      for (const other of this.all()) if (other.logicalPort === logicalPort) this.#ports.delete(other.name);
      const nadKey = network?.nad ?? DEFAULT_NETWORK_NAME;
      const port = { name, sandbox, logicalPort, podUid, interfaceName, nadKey };
      this.#ports.set(name, { ...port, isInstalled: this.installs, error: undefined });
    }
  }

  untilOpened(ports: readonly PortSpec[]): Promise<void> {
    this.onOpen(ports.map(({ name }) => name));
    return Promise.resolve();
  }

  untilInstalled(ports: readonly PortSpec[], signal: AbortSignal): Promise<void> {
    if (ports.every(({ name }) => this.#ports.get(name)?.isInstalled)) return Promise.resolve();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  }

  unplug(names: readonly string[]): Promise<void> {
    for (const name of names) this.#ports.delete(name);
    return Promise.resolve();
  }

  ofSandbox(sandbox: string): readonly PluggedPort[] {
    return this.all().filter((port) => port.sandbox === sandbox);
  }

  all(): readonly PluggedPort[] {
    return [...this.#ports.values()];
  }

  isReady(): boolean {
    return true;
  }

  isUserspace(): boolean {
    return this.userspace;
  }
}
