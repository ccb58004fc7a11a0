/**
 * What the console sends to its page. Every text may be a tenant's. It imports nothing: the page is compiled for the browser, where
 * the types of Node.js do not hold.
 */

/** One kind of object that is watched. */
export interface SourceState {
  /** `pods`, `userdefinednetworks.k8s.ovn.org` */
  readonly resource: string;
  /** `lost`: what is shown of it was true when the server was last heard. `forbidden` and `absent`: nothing of it is shown. */
  readonly state: 'loading' | 'live' | 'lost' | 'forbidden' | 'absent';
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When the server last sent something about it; undefined: never. */
  readonly heardAt?: number | undefined;
  /** Why it is not live. */
  readonly message?: string | undefined;
}

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly cause: string;
  /** The first few; `count` says how many there are. */
  readonly messages: readonly string[];
  readonly count: number;
  /** A command about the first. */
  readonly next?: string;
}

export interface NetworkView {
  readonly name: string;
  /** `udn red/net` */
  readonly object: string;
  readonly topology: string;
  readonly role: string;
  readonly subnets: readonly string[];
  readonly state: 'ready' | 'not ready' | 'deleting' | 'unknown';
  readonly cause?: string;
  readonly message?: string;
  /** Undefined: they may not be counted. */
  readonly pods?: number;
  readonly nodes?: { readonly ready: number; readonly total: number };
  readonly namespaces: readonly string[];
  /** A line for each subnet: `3 used, 250 free`. */
  readonly usage: readonly string[];
}

export interface NodeView {
  readonly node: string;
  /** `reporting`, `silent`, `absent`, `excluded`, `unreadable` */
  readonly agent: string;
  /** Undefined: nothing is known of them. */
  readonly networks?: { readonly ready: number; readonly pending: number; readonly failed: number } | undefined;
  /** Components that fail. Undefined: nothing is known of them. */
  readonly failing?: readonly string[] | undefined;
  readonly isHealthy: boolean;
  readonly message: string;
}

export type Reaches = 'yes' | 'no' | 'limited' | 'unknown';

export interface MatrixMember {
  readonly label: string;
  readonly detail: string;
}

export interface MatrixCell {
  readonly reaches: Reaches;
  readonly why: string;
}

/** Who reaches whom by configuration: nothing has been measured. */
export interface ReachMatrix {
  readonly network: string;
  readonly from: readonly MatrixMember[];
  readonly to: readonly MatrixMember[];
  /** By rows, in the order of `from`. */
  readonly cells: readonly (readonly MatrixCell[])[];
  /** What keeps the matrix from being the whole truth, a message each. */
  readonly notes: readonly string[];
}

export interface PodView {
  readonly pod: string;
  readonly node: string;
  readonly addresses: readonly string[];
  readonly state: string;
  readonly message: string;
}

/** Of the network that the page has chosen. */
export interface NetworkDetail {
  readonly network: string;
  readonly matrix: ReachMatrix;
  readonly pods: readonly PodView[];
  /** Pods beyond those. */
  readonly morePods: number;
}

export interface ConsoleModel {
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined;
  readonly networks: readonly NetworkView[];
  readonly nodes: readonly NodeView[];
  readonly problems: readonly Problem[];
  /** What could not be read, a message each. */
  readonly notes: readonly string[];
}

/** An event of the stream: `model` where something has changed, `detail` of the chosen network, `pulse` every few seconds. */
export interface StreamEvents {
  readonly model: ConsoleModel;
  /** Null: there is no such network any more. */
  readonly detail: NetworkDetail | null;
  readonly pulse: Pulse;
}

export interface Pulse {
  /** The clock of the console, in milliseconds since 1970. */
  readonly now: number;
  readonly sources: readonly SourceState[];
}

/** What a node answered. */
export interface Answer {
  /** Of udnctl there; undefined: it did not run. */
  readonly exitStatus?: number | undefined;
  readonly node?: string | undefined;
  readonly text: string;
}
