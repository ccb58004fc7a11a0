/** Keeps what fragments want, instead of writing it. */
import type { HostItem } from '../../datapath/host/types.ts';
import type { NftItem } from '../../datapath/nftables/types.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import type { DesiredFragment, Member } from '../../ovsdb/desired/types.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { OvnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { FragmentSink, ItemSink, MemberSink, Sinks } from '../desired/engine.ts';
import { BARE_OWNERS, compareOwners } from '../features/owner-order.ts';
import type { PodAttachments } from '../model/attachments.ts';
import type { NodePortItem } from '../model/node-ports.ts';

export class MemorySink<DB> implements FragmentSink<DB>, MemberSink<DB> {
  readonly fragments = new Map<string, DesiredFragment<DB>>();
  readonly #barePrefix: string;

  constructor(barePrefix = '') {
    this.#barePrefix = barePrefix;
  }

  set(owner: string, fragment: DesiredFragment<DB>): void {
    this.fragments.set(owner, fragment);
  }

  delete(owner: string): void {
    this.fragments.delete(owner);
  }

  replaceMembers(subject: string, _before: readonly Member<DB>[], members: readonly Member<DB>[]): void {
    const owner = this.#barePrefix + subject;
    if (members.length === 0) this.delete(owner);
    else this.set(owner, { members });
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
  readonly northbound = new MemorySink<OvnNorthbound>(BARE_OWNERS);
  readonly southbound = new MemorySink<OvnSouthbound>();
  readonly openvswitch = new MemorySink<OpenVSwitch>();
  readonly openflow = new MemoryItems<BridgeItem>();
  readonly host = new MemoryItems<HostItem>();
  readonly nftables = new MemoryItems<NftItem>();
  readonly nodePorts = new MemoryItems<NodePortItem>();
  readonly attachments = new Map<string, PodAttachments>();
  readonly usage = new Map<string, readonly string[]>();
}
