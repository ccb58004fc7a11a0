/** The thin edge to the bridges of ovs-vswitchd. Ports are numbers here, and flows in their one form. */
import type { CanonicalFlow, FlowState } from './text/flow.ts';
import type { MonitorEvent } from './text/flow-monitor.ts';
import type { GroupState } from './text/group-dump.ts';

/** One step of a bundle (OpenFlow 1.5.1, 6.9). */
export type BundleOp =
  /** Also replaces the flow with the same identity. */
  | { readonly op: 'addFlow'; readonly flow: CanonicalFlow }
  /** Success if there is none. */
  | { readonly op: 'deleteFlow'; readonly identity: string }
  | { readonly op: 'addGroup'; readonly group: number }
  /** Makes an existing group one of type `all` without buckets. */
  | { readonly op: 'resetGroup'; readonly group: number }
  /** Removes the flows that name it, too. */
  | { readonly op: 'deleteGroup'; readonly group: number }
  | { readonly op: 'insertBucket'; readonly group: number; readonly bucket: number; readonly actions: string }
  | { readonly op: 'removeBucket'; readonly group: number; readonly bucket: number };

/** A bundle that is sent while the rest of it is still being computed. Nothing of it is done before `commit`. */
export interface BundleDraft {
  push(ops: readonly BundleOp[]): void;
  /** All or nothing, in order. @throws as `bundle` does */
  commit(): Promise<void>;
  /** Nothing of it is done. */
  drop(): void;
}

export interface PortState {
  /** 65534 is the bridge's own. */
  readonly number: number;
  /** Cut at 15 characters. */
  readonly name: string;
  readonly noFlood: boolean;
}

/** Ports that were not changed; all others are as they were to be. */
export interface NoFloodResult {
  /** They are not on the bridge, or no longer those that they were. */
  readonly gone: ReadonlySet<number>;
  /** Port → why. */
  readonly refused: ReadonlyMap<number, string>;
}

/** All methods fail with OpenflowError: ERR_OPENFLOW_UNREACHABLE if the bridge does not answer. */
export interface SwitchClient {
  /** Identity → what the flow does. */
  flows(bridge: string, signal: AbortSignal): Promise<Map<string, FlowState>>;
  groups(bridge: string, signal: AbortSignal): Promise<Map<number, GroupState>>;
  ports(bridge: string, signal: AbortSignal): Promise<PortState[]>;
  /** All or nothing, in order. @throws OpenflowError ERR_OPENFLOW_REFUSED if the bridge refuses one of them, ERR_OPENFLOW_INVALID if one cannot be encoded */
  bundle(bridge: string, ops: readonly BundleOp[], signal: AbortSignal): Promise<void>;
  draft(bridge: string, signal: AbortSignal): BundleDraft;
  /** @param changes port → whether floods are not to reach it */
  setNoFlood(bridge: string, changes: ReadonlyMap<number, boolean>, signal: AbortSignal): Promise<NoFloodResult>;
  /** Ends by failing: when the switch goes, or when what it says is not understood. Leaving the loop ends it, too. */
  watch(bridge: string, signal: AbortSignal): AsyncIterable<readonly MonitorEvent[]>;
}
