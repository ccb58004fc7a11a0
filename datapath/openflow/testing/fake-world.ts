import { FakeSwitch } from '../fake.ts';
import { TestPorts } from './ports.ts';
import type { SwitchWorld } from './world.ts';

export class FakeWorld implements SwitchWorld {
  readonly client = new FakeSwitch();
  readonly ports = new TestPorts();

  addBridge(bridge: string): Promise<void> {
    this.client.addBridge(bridge);
    this.ports.addBridge(bridge);
    return Promise.resolve();
  }

  removeBridge(bridge: string): Promise<void> {
    this.client.removeBridge(bridge);
    this.ports.removeBridge(bridge);
    return Promise.resolve();
  }

  addPort(bridge: string, port: string, number: number): Promise<void> {
    this.client.addPort(bridge, port, number);
    this.ports.set(bridge, port, number);
    return Promise.resolve();
  }

  removePort(bridge: string, port: string): Promise<void> {
    this.client.removePort(bridge, this.ports.ofport(bridge, port) ?? -1);
    this.ports.set(bridge, port, undefined);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.client.stop();
    return Promise.resolve();
  }

  start(): Promise<void> {
    this.client.start();
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.client.stop();
    return Promise.resolve();
  }
}
