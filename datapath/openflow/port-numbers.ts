/**
 * Which number a port has on its bridge. OpenFlow's own names are cut at 15 characters and need not be unique, so it is the
 * database of ovs-vswitchd that is asked (Interface.ofport).
 */
export interface PortNumbers {
  hasBridge(bridge: string): boolean;
  /** Undefined while ovs-vswitchd has given it none, or has it on another bridge. */
  ofport(bridge: string, port: string): number | undefined;
  /**
   * Reports the names of ports whose number, bridge or existence has changed. A bridge that comes or goes is reported by
   * the name of its own port, which is that of the bridge.
   * @returns what ends it
   */
  listen(listener: (ports: ReadonlySet<string>) => void): () => void;
}
