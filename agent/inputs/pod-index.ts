/**
 * Pods as facts: with what of their annotations can be theirs, less what belongs to other pods, and with what they were
 * given before. A pod is evaluated again when something changes that its evaluation was about.
 */
import type { PodNetworkEntry, PodNetworks } from '../../api/annotations/pod-networks.ts';
import { addressOf } from '../../net/cidr.ts';
import type { FactCell, FactReader, FactStore } from '../model/fact-store.ts';
import type { PodFact } from '../model/facts.ts';
import { TrackedView } from '../model/tracked-view.ts';
import type { LocalSettings } from '../model/view.ts';
import { AddressClaims } from './address-claims.ts';
import { withKeptLimits } from './kept-limits.ts';
import { withKeptNetworks } from './kept-networks.ts';
import { type EvaluatedPod, evaluatePod } from './pod-evaluation.ts';
import type { PodProjection } from './pod-projection.ts';

export class PodIndex {
  readonly #facts: FactStore;
  readonly #view: TrackedView;
  readonly #get: (key: string) => PodProjection | undefined;
  readonly #networkOf: (nadKey: string) => string;
  readonly #claims = new AddressClaims();
  readonly #evaluations = new Map<string, Evaluation>();

  /** @param get the mirror of pods @param networkOf name of a NAD's network */
  constructor(
    facts: FactStore,
    settings: LocalSettings,
    get: (key: string) => PodProjection | undefined,
    networkOf: (nadKey: string) => string,
  ) {
    this.#facts = facts;
    this.#view = new TrackedView(facts, settings);
    this.#get = get;
    this.#networkOf = networkOf;
  }

  /** Undefined when the pod is gone. */
  change(key: string, after: PodProjection | undefined): void {
    this.#forget(key);
    if (after !== undefined) this.#evaluate(key, after);
    const others = this.#claims.set(key, after && this.#claimOf(key, after));
    this.#publish(key, others.size > 0);
    for (const other of others) this.#publish(other, true);
  }

  #evaluate(key: string, { fact }: PodProjection): void {
    const evaluated = evaluatePod(fact, this.#view);
    const evaluation: Evaluation = {
      ...evaluated,
      reads: this.#view.takeReads(),
      stale: () => this.change(key, this.#get(key)),
    };
    for (const cell of evaluation.reads) this.#facts.subscribe(cell, evaluation);
    this.#evaluations.set(key, evaluation);
  }

  #forget(key: string): void {
    const evaluation = this.#evaluations.get(key);
    this.#evaluations.delete(key);
    for (const cell of evaluation?.reads ?? []) this.#facts.unsubscribe(cell, evaluation as Evaluation);
  }

  /** Only of what can be the pod's: nobody keeps others from an address by naming it. */
  #claimOf(key: string, { createdAt }: PodProjection) {
    const fact = this.#evaluations.get(key)?.fact;
    if (fact === undefined || fact.finished || fact.node === undefined) return undefined;
    const named = isStatic(fact) ? [cgroupOf(fact)] : [];
    if (fact.hostNetwork) return { uid: fact.uid, createdAt, things: named };
    const before = this.#facts.get('pod', key);
    const kept = before?.uid === fact.uid ? [...before.networks] : [];
    const things = [...kept, ...fact.networks].flatMap(([nadKey, entry]) =>
      thingsOf(entry).map((thing) => this.#thingOn(nadKey, thing)),
    );
    return { uid: fact.uid, createdAt, things: [...named, ...new Set(things)] };
  }

  #publish(key: string, hasRivals: boolean): void {
    const evaluated = this.#evaluations.get(key);
    this.#facts.set('pod', key, evaluated && this.#factOf(key, evaluated, hasRivals));
  }

  #factOf(key: string, { fact, isNameTaken }: EvaluatedPod, hasRivals: boolean): PodFact {
    if (isNameTaken) return fact;
    const own = hasRivals ? this.#withoutRefused(key, this.#withItsCgroup(key, fact)) : fact;
    const before = this.#facts.get('pod', key);
    const { barred, ...kept } = withKeptLimits(before, withKeptNetworks(before, own));
    if (barred === undefined) return kept;
    // It runs with what it had, which is written again over what somebody else wrote.
    const { lost } = kept;
    return lost === undefined
      ? { ...kept, barred }
      : {
          ...kept,
          refused: new Map([...(kept.refused ?? []), ...[...lost].map((nadKey) => [nadKey, barred] as const)]),
        };
  }

  /** What runs in a cgroup is one pod, whatever others say. */
  #withItsCgroup(key: string, fact: PodFact): PodFact {
    const isTaken = isStatic(fact) && this.#claims.rivalOf(key, cgroupOf(fact)) !== undefined;
    return isTaken ? { ...fact, runtimeUid: fact.uid } : fact;
  }

  #withoutRefused(key: string, fact: PodFact): PodFact {
    const taken = new Map(
      [...fact.networks].flatMap(([nadKey, entry]): [string, string][] => {
        const things = thingsOf(entry).flatMap((thing) => {
          const claimed = this.#thingOn(nadKey, thing);
          const rival = this.#claims.rivalOf(key, claimed);
          return rival === undefined ? [] : [{ rival, text: `${claimed} belongs to pod ${rival}` }];
        });
        const [migrates] = things.flatMap(({ rival }) =>
          this.#areOneMachine(key, rival) ? [migratesFrom(rival)] : [],
        );
        return things.length === 0 ? [] : [[nadKey, migrates ?? things.map(({ text }) => text).join('; ')]];
      }),
    );
    if (taken.size === 0) return fact;
    const networks: PodNetworks = new Map([...fact.networks].filter(([nadKey]) => !taken.has(nadKey)));
    return { ...fact, networks, refused: new Map([...(fact.refused ?? []), ...taken]) };
  }

  /** Pods of one virtual machine have the same addresses and MAC on purpose, one after the other. */
  #areOneMachine(pod: string, other: string): boolean {
    const [one, another] = [pod, other].map((key) => this.#get(key));
    if (one?.machine === undefined || one.machine !== another?.machine) return false;
    return one.fact.namespace === another.fact.namespace;
  }

  #thingOn(nadKey: string, thing: string): string {
    return `${thing} on network ${this.#networkOf(nadKey)}`;
  }
}

interface Evaluation extends EvaluatedPod, FactReader {
  readonly reads: readonly FactCell[];
}

const isStatic = ({ uid, runtimeUid }: PodFact): boolean => runtimeUid !== uid;
const cgroupOf = ({ runtimeUid }: PodFact): string => `cgroup ${runtimeUid}`;

/** Two ports of a switch with one MAC would each get what is for the other: the older pod has it. */
const migratesFrom = (pod: string): string =>
  `live migration is not supported yet: pod ${pod} of the same virtual machine has the addresses and the MAC until it is gone or has finished`;

/** What no two pods of a network may share. */
const thingsOf = ({ ipAddresses, mac, tunnelId }: PodNetworkEntry): string[] => [
  ...ipAddresses.map(addressOf),
  `MAC ${mac}`,
  ...(tunnelId === undefined ? [] : [`port key ${tunnelId}`]),
];
