/**
 * Turns facts into fragments, and only those again that a change concerns.
 *
 * 1. There is one fragment for each feature and subject. A subject exists while the facts say so.
 * 2. While a fragment is rendered, the facts that it looks up are remembered; when one of them changes, the fragment is
 *    stale. Nobody has to declare what depends on what, so nobody can get it wrong.
 * 3. Stale fragments are rendered together in one flush. What they want goes to one sink per database, which writes the
 *    difference, so everything that one event caused becomes one transaction.
 * 4. A feature that throws is a diagnostic of that fragment; what it desired before stays.
 */

import { messageOf } from '../../base/error-message.ts';
import type { HostItem } from '../../datapath/host/types.ts';
import type { NftItem } from '../../datapath/nftables/types.ts';
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import type { DesiredFragment, Member } from '../../ovsdb/desired/types.ts';
import type { OpenVSwitch } from '../../ovsdb/models/open-vswitch.gen.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { OvnSouthbound } from '../../ovsdb/models/ovn-southbound.gen.ts';
import type { PodAttachments } from '../model/attachments.ts';
import type { FactCell, FactReader, FactStore } from '../model/fact-store.ts';
import {
  type Diagnostic,
  EMPTY_FRAGMENT,
  type Feature,
  type Fragment,
  type RenderedFeature,
  type SubjectKind,
} from '../model/fragment.ts';
import type { NodePortItem } from '../model/node-ports.ts';
import { TrackedView } from '../model/tracked-view.ts';
import type { LocalSettings } from '../model/view.ts';
import { BareMembers, isRendered } from './bare-members.ts';
import { type AnySubject, subjectKey, subjectsOf, subjectsWith } from './subjects.ts';

/** Takes what owners want of one database. Replaces what the same owner desired before. */
export interface FragmentSink<DB> {
  set(owner: string, fragment: DesiredFragment<DB>): void;
  delete(owner: string): void;
}

/** Takes elements of sets, and what the same was before. @see DesiredRows.replaceMembers */
export interface MemberSink<DB> {
  replaceMembers(subject: string, before: readonly Member<DB>[], after: readonly Member<DB>[]): void;
}

/** Takes which networks the pods of this node are attached to, by owner. */
export interface AttachmentSink {
  set(owner: string, attachments: PodAttachments): void;
  delete(owner: string): void;
}

/** Takes which networks this node is to have for the sake of an owner. */
export interface UsageSink {
  set(owner: string, networks: readonly string[]): void;
  delete(owner: string): void;
}

/** Takes what owners want of a place whose things are known by keys. Replaces what the same owner desired before. */
export interface ItemSink<Item> {
  set(owner: string, items: readonly Item[]): void;
  delete(owner: string): void;
}

export interface Sinks {
  readonly northbound: FragmentSink<OvnNorthbound> & MemberSink<OvnNorthbound>;
  readonly southbound: FragmentSink<OvnSouthbound>;
  readonly openvswitch: FragmentSink<OpenVSwitch>;
  readonly openflow: ItemSink<BridgeItem>;
  readonly host: ItemSink<HostItem>;
  readonly nftables: ItemSink<NftItem>;
  readonly nodePorts: ItemSink<NodePortItem>;
  readonly attachments: AttachmentSink;
  readonly usage: UsageSink;
}

export interface EngineOptions {
  readonly features: readonly Feature[];
  readonly facts: FactStore;
  readonly settings: LocalSettings;
  readonly sinks: Sinks;
  /** Calls back once, soon: whatever else is to happen in this turn of the event loop happens before. */
  readonly schedule: (flush: () => void) => void;
  /** After every flush, with the owners that were rendered and how long it took. */
  readonly onFlush?: ((owners: readonly string[], seconds: number) => void) | undefined;
  /** In milliseconds. */
  readonly monotonic?: (() => number) | undefined;
}

export interface Engine {
  /** Renders everything there is and keeps it current from then on. To be called when all facts are known. */
  start(): void;
  /** Renders what is stale, now. */
  flush(): void;
  stop(): void;
  /** Of fragments that have any, by owner: `feature:subject`. */
  readonly diagnostics: ReadonlyMap<string, readonly Diagnostic[]>;
}

export const createEngine = (options: EngineOptions): Engine => new RenderingEngine(options);

class RenderingEngine implements Engine {
  readonly diagnostics = new Map<string, readonly Diagnostic[]>();
  readonly #options: EngineOptions;
  readonly #view: TrackedView;
  readonly #fragments = new Map<string, FragmentSource>();
  readonly #stale = new Set<FragmentSource>();
  readonly #featuresOf: ReadonlyMap<SubjectKind, readonly RenderedFeature[]>;
  readonly #members: BareMembers;
  #scheduled = false;
  #unlisten: (() => void) | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#view = new TrackedView(options.facts, options.settings);
    const { features, facts, sinks } = options;
    this.#featuresOf = Map.groupBy(features.filter(isRendered), ({ over }) => over);
    this.#members = new BareMembers({
      ...{ features, facts, sink: sinks.northbound, diagnostics: this.diagnostics },
      onChange: () => this.#scheduleFlush(),
    });
  }

  start(): void {
    const { facts } = this.#options;
    this.#unlisten = facts.listen((kind, id, present) => {
      for (const subject of subjectsWith(kind, id, facts)) this.#setPresent(subject, present);
    });
    for (const kind of this.#featuresOf.keys()) {
      for (const subject of subjectsOf(kind, facts)) this.#setPresent(subject, true);
    }
    this.#members.start();
  }

  stop(): void {
    this.#unlisten?.();
    this.#members.stop();
    for (const source of this.#fragments.values()) this.#forget(source);
    this.#fragments.clear();
    this.#stale.clear();
  }

  flush(): void {
    const { onFlush, monotonic = () => performance.now() } = this.#options;
    const start = monotonic();
    this.#scheduled = true;
    const rendered = this.#members.flush();
    // What is used is a fact again (`networkInUse`): what follows from it belongs to the same transaction.
    for (let round = 0; this.#stale.size > 0 && round < MAX_ROUNDS; round++) {
      const stale = [...this.#stale];
      this.#stale.clear();
      // One by one: the arguments of a call have a limit, and the nodes of all networks have none.
      for (const source of stale) {
        this.#refresh(source);
        rendered.push(source.owner);
      }
    }
    this.#scheduled = false;
    if (this.#stale.size > 0) this.#scheduleFlush();
    onFlush?.(rendered, (monotonic() - start) / 1000);
  }

  #setPresent(subject: AnySubject, present: boolean): void {
    for (const feature of this.#featuresOf.get(subject.kind) ?? []) {
      const owner = `${feature.name}:${subjectKey(subject)}`;
      const source = this.#fragments.get(owner) ?? this.#newSource(owner, feature, subject);
      source.present = present;
      source.stale();
    }
  }

  #newSource(owner: string, feature: RenderedFeature, subject: AnySubject): FragmentSource {
    const source = new FragmentSource(owner, feature, subject, this.#markStale);
    this.#fragments.set(owner, source);
    return source;
  }

  readonly #markStale = (source: FragmentSource): void => {
    this.#stale.add(source);
    this.#scheduleFlush();
  };

  #scheduleFlush(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.schedule(() => this.flush());
  }

  #refresh(source: FragmentSource): void {
    this.#forget(source);
    if (!source.present) {
      this.#fragments.delete(source.owner);
      this.#publish(source, EMPTY_FRAGMENT);
      return;
    }
    const fragment = this.#render(source);
    source.reads = this.#view.takeReads();
    for (const cell of source.reads) this.#options.facts.subscribe(cell, source);
    if (fragment !== undefined) this.#publish(source, fragment);
  }

  /** Undefined when the feature failed. */
  #render(source: FragmentSource): Fragment | undefined {
    try {
      return renderWith(source, this.#view);
    } catch (error) {
      const message = `rendering failed: ${messageOf(error)}`;
      this.diagnostics.set(source.owner, [{ object: source.owner, severity: 'error', message }]);
      source.isPublished = true;
      return undefined;
    }
  }

  #publish(source: FragmentSource, fragment: Fragment): void {
    // Most fragments about a Service want nothing, and never did.
    if (fragment === EMPTY_FRAGMENT && !source.isPublished) return;
    source.isPublished = fragment !== EMPTY_FRAGMENT;
    const { owner } = source;
    const { northbound, southbound, openvswitch, openflow, host, nftables, attachments, diagnostics = [] } = fragment;
    const { usedNetworks = [], nodePorts } = fragment;
    const { sinks } = this.#options;
    publishTo(sinks.northbound, owner, northbound);
    publishTo(sinks.southbound, owner, southbound);
    publishTo(sinks.openvswitch, owner, openvswitch);
    publishItems(sinks.openflow, owner, openflow?.items);
    publishItems(sinks.host, owner, host?.items);
    publishItems(sinks.nftables, owner, nftables?.items);
    publishItems(sinks.nodePorts, owner, nodePorts?.items);
    if (usedNetworks.length === 0) sinks.usage.delete(owner);
    else sinks.usage.set(owner, usedNetworks);
    if (attachments === undefined) sinks.attachments.delete(owner);
    else sinks.attachments.set(owner, attachments);
    if (diagnostics.length > 0) this.diagnostics.set(owner, diagnostics);
    else this.diagnostics.delete(owner);
  }

  #forget(source: FragmentSource): void {
    for (const cell of source.reads) this.#options.facts.unsubscribe(cell, source);
    source.reads = NOTHING_READ;
  }
}

/** Facts that follow from fragments are one step away; more rounds would be a circle. */
const MAX_ROUNDS = 4;

const NOTHING_READ: readonly FactCell[] = [];

class FragmentSource implements FactReader {
  readonly owner: string;
  readonly feature: RenderedFeature;
  readonly subject: AnySubject;
  readonly #onStale: (source: FragmentSource) => void;
  reads: readonly FactCell[] = NOTHING_READ;
  present = true;
  /** Something of it may be in the sinks, or among the diagnostics. */
  isPublished = false;

  constructor(owner: string, feature: RenderedFeature, subject: AnySubject, onStale: (source: FragmentSource) => void) {
    this.owner = owner;
    this.feature = feature;
    this.subject = subject;
    this.#onStale = onStale;
  }

  stale(): void {
    this.#onStale(this);
  }
}

const renderWith = ({ feature, subject }: FragmentSource, view: TrackedView): Fragment =>
  // The compiler cannot see that a feature and a subject of the same kind fit each other.
  (feature.render as (subject: AnySubject['value'], view: TrackedView) => Fragment)(subject.value, view);

const publishTo = <DB>(sink: FragmentSink<DB>, owner: string, fragment: DesiredFragment<DB> | undefined): void => {
  if (fragment === undefined || isEmpty(fragment)) sink.delete(owner);
  else sink.set(owner, fragment);
};

const publishItems = <Item>(sink: ItemSink<Item>, owner: string, items: readonly Item[] = []): void => {
  if (items.length === 0) sink.delete(owner);
  else sink.set(owner, items);
};

const isEmpty = <DB>({ rows = [], members = [], patches = [] }: DesiredFragment<DB>): boolean =>
  rows.length + members.length + patches.length === 0;
