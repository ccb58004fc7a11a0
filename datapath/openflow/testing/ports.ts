import type { PortNumbers } from '../port-numbers.ts';

/** Port numbers as a test says them. */
export class TestPorts implements PortNumbers {
  readonly #bridges = new Map<string, Map<string, number>>();
  readonly #listeners = new Set<(ports: ReadonlySet<string>) => void>();

  addBridge(bridge: string): void {
    this.#bridges.set(bridge, new Map());
    this.#notify(bridge);
  }

  removeBridge(bridge: string): void {
    this.#bridges.delete(bridge);
    this.#notify(bridge);
  }

  /** Undefined: it has no number, or is gone. */
  set(bridge: string, port: string, number: number | undefined): void {
    if (number === undefined) this.#bridges.get(bridge)?.delete(port);
    else this.#bridges.get(bridge)?.set(port, number);
    this.#notify(port);
  }

  hasBridge(bridge: string): boolean {
    return this.#bridges.has(bridge);
  }

  ofport(bridge: string, port: string): number | undefined {
    return this.#bridges.get(bridge)?.get(port);
  }

  listen(listener: (ports: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(name: string): void {
    for (const listener of this.#listeners) listener(new Set([name]));
  }
}
