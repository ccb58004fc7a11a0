/** The programs of this repository: `dist/<name>.mjs` is bundled from `entry`, or runs `dist/<name>.cjs`, which is. */
export interface Program {
  readonly name: string;
  readonly entry: string;
  /** It has a launcher, and code that is compiled when it is built (program/compiled.ts). */
  readonly isDaemon?: boolean;
}

export const PROGRAMS: readonly Program[] = [
  { name: 'udn-agent', entry: 'agent/main.ts', isDaemon: true },
  { name: 'udnctl', entry: 'cli/main.ts' },
  { name: 'udn-cluster-manager', entry: 'cluster-manager/main.ts', isDaemon: true },
  // A worker thread of the agent, loaded from beside it.
  { name: 'netlink-worker', entry: 'datapath/netlink/worker/netlink-worker.ts' },
  { name: 'sandbox', entry: 'sandbox/cli/main.ts' },
  { name: 'sandbox-kubelet', entry: 'sandbox/kubelet/main.ts' },
];
