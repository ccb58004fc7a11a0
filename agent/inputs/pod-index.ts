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
import { HostPortClaims } from './host-port-claims.ts';
import { withKeptLimits } from './kept-limits.ts';
import { withKeptNetworks } from './kept-networks.ts';
import { type MachinePod, MOST_PODS_OF_MACHINE, podsWithRoom, podWithMachine } from './machine-pods.ts';
import { type EvaluatedPod, evaluatePod } from './pod-evaluation.ts';
import type { PodProjection } from './pod-projection.ts';

export class PodIndex {
  readonly #facts: FactStore;
  readonly #view: TrackedView;
  readonly #get: (key: string) => PodProjection | undefined;
  readonly #networkOf: (nadKey: string) => string;
  readonly #claims = new AddressClaims();
  readonly #hostPorts: HostPortClaims;
  readonly #evaluations = new Map<string, Evaluation>();

  /** @param get the mirror of pods @param networkOf name of a NAD's network */
  constructor(
    facts: FactStore,
    settings: LocalSettings,
    get: (key: string) => PodProjection | undefined,
    networkOf: (nadKey: string) => string,
  ) {
    this.#facts = facts;
    this.#hostPorts = new HostPortClaims(facts);
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
    for (const other of this.#withTheirMachines(key, others)) this.#publish(other, true);
    this.#hostPorts.set(key, this.#facts.get('pod', key), after?.createdAt ?? '');
  }

  /** Which pod of a machine has its ports depends on what its other pods have been refused. */
  #withTheirMachines(key: string, others: ReadonlySet<string>): ReadonlySet<string> {
    const all = new Set(others);
    for (const other of others) {
      if (this.#get(other)?.fact.machineId === undefined) continue;
      for (const one of this.#claims.sharersOf(other)) if (one !== key) all.add(one);
    }
    return all;
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
    const { fact, isNameTaken } = this.#evaluations.get(key) ?? {};
    if (fact === undefined || fact.finished || fact.node === undefined) return undefined;
    const named = isStatic(fact) ? [cgroupOf(fact)] : [];
    if (fact.hostNetwork) return { uid: fact.uid, createdAt, things: named };
    const before = this.#facts.get('pod', key);
    const kept = before?.uid === fact.uid && isNameTaken !== true ? [...before.networks] : [];
    const things = [...kept, ...fact.networks].flatMap(([nadKey, entry]) =>
      thingsOf(entry).map(({ thing }) => this.#thingOn(nadKey, thing)),
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
    const refusalOf = (nadKey: string, entry: PodNetworkEntry) => this.#refusalOf(key, nadKey, entry);
    const whole = withKeptLimits(before, withKeptNetworks(before, own, hasRivals ? refusalOf : undefined));
    const { barred, ...kept } = hasRivals ? this.#withStandby(key, whole) : whole;
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
        const why = this.#refusalOf(key, nadKey, entry);
        return why === undefined ? [] : [[nadKey, why]];
      }),
    );
    if (taken.size === 0) return fact;
    const networks: PodNetworks = new Map([...fact.networks].filter(([nadKey]) => !taken.has(nadKey)));
    return { ...fact, networks, refused: new Map([...(fact.refused ?? []), ...taken]) };
  }

  /** What of an entry an older pod has, which is not of the same machine, or is one of too many. */
  #refusalOf(key: string, nadKey: string, entry: PodNetworkEntry): string | undefined {
    const reasons = thingsOf(entry).flatMap(({ thing, isMachines }) => {
      const claimed = this.#thingOn(nadKey, thing);
      let older = 0;
      const mayShare = (other: string): boolean => {
        older += 1;
        return older < MOST_PODS_OF_MACHINE && this.#areOneMachine(key, other);
      };
      const rival = this.#claims.rivalOf(key, claimed, isMachines ? mayShare : undefined);
      return rival === undefined ? [] : [`${claimed} belongs to pod ${rival}`];
    });
    return reasons.length === 0 ? undefined : reasons.join('; ');
  }

  /** Two ports of a switch with one MAC would each get what is for the other: one of them is closed. */
  #withStandby(key: string, fact: PodFact): PodFact {
    const standby = new Map(
      [...fact.networks].flatMap(([nadKey, entry]): [string, string][] => {
        const holder = this.#podWithMachine(key, nadKey, entry);
        return holder === undefined || holder === key ? [] : [[nadKey, holder]];
      }),
    );
    return standby.size === 0 ? fact : { ...fact, standby };
  }

  /** Of the pods of its virtual machine that share something on a network. */
  #podWithMachine(key: string, nadKey: string, entry: PodNetworkEntry): string | undefined {
    const shared = this.#sharedOf(nadKey, entry);
    const claimants = shared.flatMap((thing) => this.#claims.claimantsOf(thing));
    // One that has ended claims nothing, and waits for nobody.
    if (!claimants.includes(key)) return undefined;
    const pods = [...new Set(claimants)].filter((one) => one === key || this.#areOneMachine(key, one));
    if (pods.length === 1) return undefined;
    const inRoom = podsWithRoom(pods.flatMap((one) => this.#machinePodOf(one) ?? []));
    const given = inRoom.filter((one) => this.#isGiven(one.key, shared));
    return podWithMachine(given.length === 0 ? inRoom : given);
  }

  #machinePodOf(key: string): MachinePod | undefined {
    const found = this.#get(key);
    if (found === undefined) return undefined;
    const { fact, createdAt, isMigrated } = found;
    return { key, uid: fact.uid, createdAt, isMigrated };
  }

  /** By its annotation, and not refused: what a pod has of an earlier one counts for nothing, as an agent that restarts does not know of it. */
  #isGiven(key: string, shared: readonly string[]): boolean {
    const fact = this.#evaluations.get(key)?.fact;
    if (fact === undefined) return false;
    const { networks } = this.#withoutRefused(key, fact);
    return networks
      .entries()
      .some(([nadKey, entry]) => this.#sharedOf(nadKey, entry).some((thing) => shared.includes(thing)));
  }

  #sharedOf(nadKey: string, entry: PodNetworkEntry): readonly string[] {
    const shared = thingsOf(entry).filter(({ isMachines }) => isMachines);
    return shared.map(({ thing }) => this.#thingOn(nadKey, thing));
  }

  /** Pods of one virtual machine have the same addresses and MAC on purpose. */
  #areOneMachine(pod: string, other: string): boolean {
    const [one, another] = [pod, other].map((key) => this.#get(key)?.fact);
    if (one?.machineId === undefined || one.machineId !== another?.machineId) return false;
    return one.namespace === another.namespace;
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

interface Thing {
  readonly thing: string;
  /** Pods of one virtual machine share it. */
  readonly isMachines: boolean;
}

/** What no two pods of a network may share, but for those of one virtual machine, which are two ports of the switch nevertheless. */
const thingsOf = ({ ipAddresses, mac, tunnelId }: PodNetworkEntry): Thing[] => [
  ...[...ipAddresses.map(addressOf), `MAC ${mac}`].map((thing) => ({ thing, isMachines: true })),
  ...(tunnelId === undefined ? [] : [{ thing: `port key ${tunnelId}`, isMachines: false }]),
];
