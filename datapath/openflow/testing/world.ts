/** What tests do to a switch, whether it is the real one or the one in memory. */
import type { SwitchClient } from '../switch-client.ts';
import type { TestPorts } from './ports.ts';

export interface SwitchWorld extends AsyncDisposable {
  readonly client: SwitchClient;
  readonly ports: TestPorts;
  addBridge(bridge: string): Promise<void>;
  removeBridge(bridge: string): Promise<void>;
  addPort(bridge: string, port: string, number: number): Promise<void>;
  removePort(bridge: string, port: string): Promise<void>;
  /** ovs-vswitchd ends, and flows, groups and the config of ports with it. */
  stop(): Promise<void>;
  start(): Promise<void>;
}
