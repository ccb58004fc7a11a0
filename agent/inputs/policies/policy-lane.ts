/**
 * The MultiNetworkPolicies of one secondary network: an index of their own, which knows the pods that are attached to the network and no others.
 * It exists while a policy names the network.
 */
import type { FactStore, FactWriter } from '../../model/fact-store.ts';
import type { LocalSettings } from '../../model/view.ts';
import type { Problem } from '../problem.ts';
import { inTurn } from './in-turn.ts';
import { laneWriter } from './lane-writer.ts';
import { PolicyIndex } from './policy-index.ts';
import { namespaceOf } from './policy-reader.ts';
import type { PolicyNamespace, PolicyPod, PolicyProjection } from './types.ts';

export interface PolicyLaneOptions {
  readonly facts: FactStore;
  readonly settings: LocalSettings;
  readonly writer: FactWriter;
  readonly onFailure: () => void;
  /** Of all namespaces. */
  readonly namespaces: ReadonlyMap<string, PolicyNamespace>;
}

export class PolicyLane {
  readonly #network: string;
  readonly #options: PolicyLaneOptions;
  readonly #index: PolicyIndex;
  readonly #policies = new Set<string>();
  readonly #pods = new Set<string>();
  /** With the number of its pods and policies. */
  readonly #namespaces = new Map<string, number>();

  constructor(network: string, options: PolicyLaneOptions) {
    const { facts, settings, writer, onFailure } = options;
    this.#network = network;
    this.#options = options;
    this.#index = new PolicyIndex({
      ...{ facts, settings, onFailure, secondary: network },
      writer: laneWriter(writer, network),
    });
    writer.set('multiPolicies', network, true);
  }

  get isEmpty(): boolean {
    return this.#policies.size === 0;
  }

  get reader(): PolicyIndex['reader'] {
    return this.#index.reader;
  }

  has(pod: string): boolean {
    return this.#pods.has(pod);
  }

  /** Undefined when the policy is gone, or not for this network any more. */
  changePolicy(key: string, after: PolicyProjection | undefined): void {
    this.#change(this.#policies, key, after !== undefined, () => this.#index.changePolicy(key, after));
  }

  /** Undefined when the pod is gone, or not on this network any more. */
  changePod(key: string, after: PolicyPod | undefined): void {
    this.#change(this.#pods, key, after !== undefined, () => this.#index.changePod(key, after));
  }

  changeNamespace(name: string): void {
    if (this.#namespaces.has(name)) this.#index.changeNamespace(name, this.#options.namespaces.get(name));
  }

  /** Without those of the policies themselves. */
  problems(): Problem[] {
    return [...this.#index.reader.problems().map((problem) => this.#named(problem)), ...this.failed()];
  }

  failed(): Problem[] {
    return this.#index.failed().map((problem) => this.#named(problem));
  }

  /** What it knows of a policy, without what is wrong with it everywhere. */
  describe(key: string): ReturnType<PolicyIndex['reader']['describePolicy']> {
    const found = this.#index.reader.describePolicy(key);
    return found && { ...found, problems: found.problems.map((problem) => this.#named(problem)) };
  }

  /** Its facts go. */
  end(): void {
    this.#options.writer.set('multiPolicies', this.#network, undefined);
    inTurn([
      ...[...this.#policies].map((key) => () => this.changePolicy(key, undefined)),
      ...[...this.#pods].map((key) => () => this.changePod(key, undefined)),
      () => this.stop(),
    ]);
  }

  /** Its facts stay. */
  stop(): void {
    this.#index.stop();
  }

  /** A namespace is known before what is in it, and as long as something is. */
  #change(known: Set<string>, key: string, isThere: boolean, change: () => void): void {
    const wasThere = known.has(key);
    const namespace = namespaceOf(key);
    const uses = this.#namespaces.get(namespace) ?? 0;
    const now = uses + Number(isThere) - Number(wasThere);
    if (isThere) known.add(key);
    else known.delete(key);
    if (now > 0) this.#namespaces.set(namespace, now);
    const isNew = uses === 0 && now > 0;
    inTurn([
      () => isNew && this.changeNamespace(namespace),
      change,
      () => {
        if (now > 0 || uses === 0) return;
        this.#namespaces.delete(namespace);
        this.#index.changeNamespace(namespace, undefined);
      },
    ]);
  }

  #named({ object, message, ...problem }: Problem): Problem {
    return {
      ...problem,
      object: object.replace(/^NetworkPolicy\//, 'MultiNetworkPolicy/'),
      message: `on network ${this.#network}: ${message}`,
    };
  }
}
