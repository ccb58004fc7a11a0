/** How this node gets out: its gateway bridge, and what it takes to make one of a NIC. */
import type { KernelOp } from '../../../datapath/netlink/kernel/types.ts';
import type { Snapshot } from '../../../datapath/netlink/netlink.ts';
import type { Ip } from '../../../net/ip.ts';
import type { Mac } from '../../../net/mac.ts';
import type { Uuid } from '../../../ovsdb/uuid.ts';
import type { MoveRecord } from './move-record.ts';

export interface GatewayOptions {
  readonly mode: 'shared' | 'local' | 'disabled';
  /** A bridge, a port of a bridge, or a NIC; absent: the interface of the default route. */
  readonly interface: string | undefined;
  /** Empty: those of the default routes. */
  readonly nextHops: readonly Ip[];
  /** 0: untagged. */
  readonly vlanId: number;
  /** In local mode: a bridge without a port to the outside is one all the same. */
  readonly allowNoUplink: boolean;
}

export type HostSnapshot = Pick<Snapshot, 'links' | 'addresses' | 'routes'>;

export interface BridgePort {
  readonly name: string;
  /** Types of its interfaces: empty for `system`. */
  readonly types: readonly string[];
}

/** A bridge of the Open_vSwitch database. */
export interface Bridge {
  readonly uuid: Uuid;
  readonly name: string;
  readonly externalIds: Readonly<Record<string, string>>;
  /** What ovs-vswitchd is to give it, `other_config:hwaddr`; undefined when nobody says it. */
  readonly mac: Mac | undefined;
  readonly ports: readonly BridgePort[];
}

/** What of the Open_vSwitch database decides. */
export interface SwitchState {
  /** All but the integration bridge. */
  readonly bridges: readonly Bridge[];
  /** Of new bridges: that of the integration bridge. */
  readonly datapathType: string;
  /** Name of the bridge that `ovn-bridge-mappings` has for our physical network. */
  readonly mapped: string | undefined;
}

export interface World {
  readonly switch: SwitchState;
  readonly host: HostSnapshot;
}

/** One change; each may be repeated, and the process may end after each. */
export type UplinkStep =
  /** The bridge with its own port and the NIC, and the record, in one transaction. */
  | {
      readonly kind: 'create';
      readonly bridge: string;
      readonly uplink: string | undefined;
      readonly record: MoveRecord;
    }
  | { readonly kind: 'attach'; readonly bridge: string; readonly uplink: string }
  | { readonly kind: 'record'; readonly bridge: string; readonly record: MoveRecord }
  | { readonly kind: 'delete'; readonly bridge: string }
  | { readonly kind: 'kernel'; readonly ops: readonly KernelOp[] };

export interface UplinkEffects {
  /** @param tables which routing tables to read */
  observe(tables: ReadonlySet<number> | 'all', signal: AbortSignal): Promise<World>;
  /** Without the kernel. */
  readBridges(signal: AbortSignal): Promise<readonly Bridge[]>;
  /** @throws UplinkError, or what kept it from being done */
  perform(step: UplinkStep, world: World, signal: AbortSignal): Promise<void>;
}
