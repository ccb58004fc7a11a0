/**
 * MultiNetworkPolicies as facts: which networks they name, and which pods are attached there. What policies of one network make of its
 * pods is worked out by a lane of its own (`PolicyLane`), so a pod without attachments costs nothing, and a network without policies an entry.
 */
import type { FactStore, FactWriter } from '../../model/fact-store.ts';
import { attachmentId } from '../../model/facts.ts';
import { TrackedView } from '../../model/tracked-view.ts';
import type { LocalSettings, View } from '../../model/view.ts';
import type { Problem } from '../problem.ts';
import type { IsolatingPolicy, PolicyDescription } from './describe.ts';
import { evaluatedPod } from './evaluated-pod.ts';
import { inTurn } from './in-turn.ts';
import { mergedDescription, multiKey, notesOfNads } from './multi-notes.ts';
import type { MultiProjection } from './multi-projection.ts';
import { nadsOfPod } from './nads-of-pod.ts';
import { PolicyLane, type PolicyLaneOptions } from './policy-lane.ts';
import type { PolicyNamespace, PolicyPod } from './types.ts';
import { Watched } from './watched.ts';

export interface MultiIndexOptions {
  readonly facts: FactStore;
  readonly settings: LocalSettings;
  readonly writer: FactWriter;
  readonly onFailure: () => void;
}

/** A NetworkAttachmentDefinition that a policy names or a pod is attached by. */
interface NadState {
  /** The secondary network, if it is of one of ours. */
  readonly network: Watched<string | undefined>;
  readonly pods: Set<string>;
  readonly policies: Set<string>;
}

interface Held<Value> {
  readonly value: Value;
  readonly nads: readonly string[];
  /** With lanes that have it. */
  networks: readonly string[];
}

export class MultiIndex {
  readonly #options: PolicyLaneOptions;
  readonly #view: TrackedView;
  readonly #namespaces = new Map<string, PolicyNamespace>();
  readonly #pods = new Map<string, Held<PolicyPod>>();
  readonly #policies = new Map<string, Held<MultiProjection>>();
  readonly #nads = new Map<string, NadState>();
  /** By name of the network. */
  readonly #nadsOf = new Map<string, Set<string>>();
  readonly #lanes = new Map<string, PolicyLane>();

  constructor(options: MultiIndexOptions) {
    this.#options = { ...options, namespaces: this.#namespaces };
    this.#view = new TrackedView(options.facts, options.settings);
  }

  /** Undefined when the policy is gone. @param key `namespace/name` */
  changePolicy(key: string, after: MultiProjection | undefined): void {
    const before = this.#policies.get(key);
    const { nads = [] } = after ?? {};
    if (after === undefined) this.#policies.delete(key);
    else this.#policies.set(key, { value: after, nads, networks: before?.networks ?? [] });
    this.#enter('policies', key, before?.nads ?? [], nads);
    this.#placePolicy(key, before);
  }

  /** Undefined when the pod is gone. @param key `namespace/name` */
  changePod(key: string, given: PolicyPod | undefined): void {
    const after = given && evaluatedPod(key, given, this.#options.facts.get('pod', key));
    const nads = after === undefined || after.isHost === true ? [] : nadsOfPod(after);
    const before = this.#pods.get(key);
    if (nads.length === 0 && before === undefined) return;
    if (after === undefined || nads.length === 0) this.#pods.delete(key);
    else this.#pods.set(key, { value: after, nads, networks: before?.networks ?? [] });
    this.#enter('pods', key, before?.nads ?? [], nads);
    this.#placePod(key, before);
  }

  /** Undefined when the namespace is gone. */
  changeNamespace(name: string, after: PolicyNamespace | undefined): void {
    if (after === undefined) this.#namespaces.delete(name);
    else this.#namespaces.set(name, after);
    inTurn(this.#lanes.values().map((lane) => () => lane.changeNamespace(name)));
  }

  problems(): Problem[] {
    const ofPolicies = this.#policies
      .entries()
      .flatMap(([key, { value }]) => [...value.problems, ...this.#nadNotes(key)]);
    return [...ofPolicies, ...this.localProblems()];
  }

  /** Those with pods of this node: the others are the same on all nodes. */
  localProblems(): Problem[] {
    return [...this.#lanes.values().flatMap((lane) => lane.problems())];
  }

  failed(): Problem[] {
    return [...this.#lanes.values().flatMap((lane) => lane.failed())];
  }

  /** `MultiNetworkPolicy/namespace/name` of each. */
  *policies(): Iterable<string> {
    for (const key of this.#policies.keys()) yield multiKey(key);
  }

  /** On all networks that it is for. @param key `namespace/name` */
  describe(key: string): PolicyDescription | undefined {
    const policy = this.#policies.get(key);
    if (policy === undefined) return undefined;
    const lanes = policy.networks.flatMap((network) => {
      const found = this.#lanes.get(network)?.describe(key);
      return found === undefined ? [] : [{ network, found }];
    });
    return mergedDescription(policy.value, lanes, this.#nadNotes(key));
  }

  uidOf(key: string): string | undefined {
    return this.#policies.get(key)?.value.policy.policy.uid;
  }

  /** @param pod `namespace/name`, of this node */
  isolating(pod: string, network: string): IsolatingPolicy[] {
    const found = this.#lanes.get(network)?.reader.isolating(pod) ?? [];
    return found.map((one) => ({ ...one, policy: multiKey(one.policy) }));
  }

  /** The networks whose policies a pod can be under, as `attachmentId`. */
  attachmentsOf(pod: string): readonly string[] {
    return (this.#pods.get(pod)?.networks ?? []).map((network) => attachmentId(pod, network));
  }

  policiesOfRule(id: string): string[] {
    return [...this.#lanes.values().flatMap(({ reader }) => reader.policiesOfRule(id).map(multiKey))];
  }

  /** It looks at nothing any more, and its facts stay. */
  stop(): void {
    for (const { network } of this.#nads.values()) network.stop();
    inTurn(this.#lanes.values().map((lane) => () => lane.stop()));
  }

  #nadNotes(key: string): Problem[] {
    const nads = this.#policies.get(key)?.nads ?? [];
    return notesOfNads(key, nads, (nad) => this.#nads.get(nad)?.network.value !== undefined, this.#options.facts);
  }

  /** What a NAD is of is looked at while something has to do with it. */
  #enter(what: 'pods' | 'policies', key: string, before: readonly string[], after: readonly string[]): void {
    for (const nad of after) {
      if (before.includes(nad)) continue;
      const state = this.#nads.get(nad) ?? this.#watch(nad);
      state[what].add(key);
    }
    for (const nad of before) {
      const state = after.includes(nad) ? undefined : this.#nads.get(nad);
      if (state === undefined) continue;
      state[what].delete(key);
      if (state.pods.size > 0 || state.policies.size > 0) continue;
      state.network.stop();
      this.#nads.delete(nad);
      this.#file(nad, state.network.value, undefined);
    }
  }

  #watch(nad: string): NadState {
    let network: string | undefined;
    const { facts } = this.#options;
    const read = (view: View): string | undefined => secondaryOf(nad, view);
    const onChange = (): void => {
      const before = network;
      network = state.network.value;
      this.#file(nad, before, network);
      inTurn([
        ...[...state.policies].map((key) => () => this.#placePolicy(key, this.#policies.get(key))),
        ...[...state.pods].map((key) => () => this.#placePod(key, this.#pods.get(key))),
      ]);
    };
    const state: NadState = {
      network: new Watched(facts, this.#view, read, onChange),
      ...{ pods: new Set<string>(), policies: new Set<string>() },
    };
    network = state.network.value;
    this.#nads.set(nad, state);
    this.#file(nad, undefined, network);
    return state;
  }

  #file(nad: string, before: string | undefined, after: string | undefined): void {
    const known = before === undefined ? undefined : this.#nadsOf.get(before);
    known?.delete(nad);
    if (before !== undefined && known?.size === 0) this.#nadsOf.delete(before);
    if (after === undefined) return;
    const nads = this.#nadsOf.get(after) ?? new Set<string>();
    this.#nadsOf.set(after, nads.add(nad));
  }

  #networksOf(nads: readonly string[]): readonly string[] {
    return [...new Set(nads.flatMap((nad) => this.#nads.get(nad)?.network.value ?? []))];
  }

  #placePolicy(key: string, before: Held<MultiProjection> | undefined): void {
    const held = this.#policies.get(key);
    const networks = held === undefined ? [] : this.#networksOf(held.nads);
    const left = (before?.networks ?? []).filter((network) => !networks.includes(network));
    if (held !== undefined) held.networks = networks;
    inTurn([
      // First where it comes: what it leaves may be empty then.
      ...networks.map((network) => () => {
        // What is wrong with it is reported once, and not for each network.
        const policy = held && { ...held.value.policy, problems: [] };
        this.#ensure(network).changePolicy(key, policy);
      }),
      ...left.map((network) => () => this.#leave(network, key)),
    ]);
  }

  #placePod(key: string, before: Held<PolicyPod> | undefined): void {
    const held = this.#pods.get(key);
    const networks = held === undefined ? [] : this.#networksOf(held.nads).filter((one) => this.#lanes.has(one));
    const left = (before?.networks ?? []).filter((network) => !networks.includes(network));
    if (held !== undefined) held.networks = networks;
    inTurn([
      ...networks.map((network) => () => this.#lanes.get(network)?.changePod(key, held?.value)),
      ...left.map((network) => () => this.#lanes.get(network)?.changePod(key, undefined)),
    ]);
  }

  #ensure(network: string): PolicyLane {
    const known = this.#lanes.get(network);
    if (known !== undefined) return known;
    const lane = new PolicyLane(network, this.#options);
    this.#lanes.set(network, lane);
    const pods = new Set(
      [...(this.#nadsOf.get(network) ?? [])].flatMap((nad) => [...(this.#nads.get(nad)?.pods ?? [])]),
    );
    inTurn([...pods].map((key) => () => this.#placePod(key, this.#pods.get(key))));
    return lane;
  }

  #leave(network: string, policy: string): void {
    const lane = this.#lanes.get(network);
    if (lane === undefined) return;
    lane.changePolicy(policy, undefined);
    if (!lane.isEmpty) return;
    this.#lanes.delete(network);
    for (const nad of this.#nadsOf.get(network) ?? [])
      for (const pod of this.#nads.get(nad)?.pods ?? []) {
        const held = this.#pods.get(pod);
        if (held !== undefined) held.networks = held.networks.filter((one) => one !== network);
      }
    lane.end();
  }
}

const secondaryOf = (nad: string, view: View): string | undefined => {
  const network = view.networkOfNad(nad);
  return network?.role === 'secondary' ? network.name : undefined;
};
