/** Keeps what fragments want, instead of writing it. */
import type { HostItem } from '../../datapath/host/types.ts';
import type { NftItem } from '../../datapath/nftables/types.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import type { DesiredFragment } from '../../ovsdb/desired/types.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { OvnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { FragmentSink, ItemSink, Sinks } from '../desired/engine.ts';
import { compareOwners } from '../features/owner-order.ts';
import type { PodAttachments } from '../model/attachments.ts';
import type { NodePortItem } from '../model/node-ports.ts';

export class MemorySink<DB> implements FragmentSink<DB> {
  readonly fragments = new Map<string, DesiredFragment<DB>>();

  set(owner: string, fragment: DesiredFragment<DB>): void {
    this.fragments.set(owner, fragment);
  }

  delete(owner: string): void {
    this.fragments.delete(owner);
  }
}

export class MemoryItems<Item> implements ItemSink<Item> {
  readonly #items = new Map<string, readonly Item[]>();

  set(owner: string, items: readonly Item[]): void {
    this.#items.set(owner, items);
  }

  delete(owner: string): void {
    this.#items.delete(owner);
  }

  /** Of all owners, by owner. */
  all(): Item[] {
    return [...this.#items.keys()].sort(compareOwners).flatMap((owner) => this.#items.get(owner) ?? []);
  }
}

export class MemorySinks implements Sinks {
  readonly northbound = new MemorySink<OvnNorthbound>();
  readonly southbound = new MemorySink<OvnSouthbound>();
  readonly openvswitch = new MemorySink<OpenVSwitch>();
  readonly openflow = new MemoryItems<BridgeItem>();
  readonly host = new MemoryItems<HostItem>();
  readonly nftables = new MemoryItems<NftItem>();
  readonly nodePorts = new MemoryItems<NodePortItem>();
  readonly attachments = new Map<string, PodAttachments>();
  readonly usage = new Map<string, readonly string[]>();
}
