/** Keeps what fragments want, instead of writing it. */
import type { DesiredFragment } from '../../ovsdb/desired/types.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { OvnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { FragmentSink, Sinks } from '../desired/engine.ts';
import type { PodAttachments } from '../model/attachments.ts';

export class MemorySink<DB> implements FragmentSink<DB> {
  readonly fragments = new Map<string, DesiredFragment<DB>>();

  set(owner: string, fragment: DesiredFragment<DB>): void {
    this.fragments.set(owner, fragment);
  }

  delete(owner: string): void {
    this.fragments.delete(owner);
  }
}

export class MemorySinks implements Sinks {
  readonly northbound = new MemorySink<OvnNorthbound>();
  readonly southbound = new MemorySink<OvnSouthbound>();
  readonly openvswitch = new MemorySink<OpenVSwitch>();
  readonly attachments = new Map<string, PodAttachments>();
}
