/**
 * Elements of sets that each follow from one fact alone. Nothing is held for a fact that is as it was: what was desired because of it is
 * worked out again when it changes.
 */
import { messageOf } from '../../base/error-message.ts';
import type { OvnNorthbound } from '../../ovsdb/models/ovn-northbound.gen.ts';
import type { BareChange, FactStore } from '../model/fact-store.ts';
import type { BareKind, Facts } from '../model/facts.ts';
import type { Diagnostic, Feature, MembersOver, RenderedFeature } from '../model/fragment.ts';
import type { MemberSink } from './engine.ts';

export interface BareMembersOptions {
  readonly features: readonly Feature[];
  readonly facts: FactStore;
  readonly sink: MemberSink<OvnNorthbound>;
  /** Of facts that could not be rendered. */
  readonly diagnostics: Map<string, readonly Diagnostic[]>;
  readonly onChange: () => void;
}

export class BareMembers {
  readonly #options: BareMembersOptions;
  readonly #features: readonly MembersOver<BareKind>[];
  /** By id, what the sink has it for: undefined when it has nothing. */
  readonly #stale = new Map<string, Facts[BareKind] | undefined>();
  #unlisten: (() => void) | undefined;

  constructor(options: BareMembersOptions) {
    this.#options = options;
    this.#features = options.features.filter((feature) => !isRendered(feature));
  }

  start(): void {
    const { facts } = this.#options;
    this.#unlisten = facts.listenBare((change) => this.#markStale(change));
    for (const { over } of this.#features)
      for (const id of facts.ids(over)) this.#markStale({ kind: over, id, before: undefined });
  }

  stop(): void {
    this.#unlisten?.();
    this.#stale.clear();
  }

  /** @returns the owners of what was rendered */
  flush(): string[] {
    const rendered: string[] = [];
    // What fails stays, and is tried again with the next flush.
    for (const [id, before] of this.#stale)
      for (const feature of this.#features) {
        if (this.#publish(feature, id, before)) this.#stale.delete(id);
        rendered.push(`${feature.name}:${id}`);
      }
    return rendered;
  }

  #markStale({ id, before }: BareChange): void {
    if (!this.#stale.has(id)) this.#stale.set(id, before);
    this.#options.onChange();
  }

  #publish(feature: MembersOver<BareKind>, id: string, before: Facts[BareKind] | undefined): boolean {
    const { facts, sink, diagnostics } = this.#options;
    const owner = `${feature.name}:${id}`;
    try {
      const after = facts.get(feature.over, id);
      sink.replaceMembers(id, membersOf(feature, before), membersOf(feature, after));
      diagnostics.delete(owner);
      return true;
    } catch (error) {
      const message = `rendering failed: ${messageOf(error)}`;
      diagnostics.set(owner, [{ object: owner, severity: 'error', message }]);
      return false;
    }
  }
}

const membersOf = (feature: MembersOver<BareKind>, fact: Facts[BareKind] | undefined) =>
  fact === undefined ? [] : feature.members(fact);

export const isRendered = (feature: Feature): feature is RenderedFeature => 'render' in feature;
