/**
 * What could not be worked out of administrators' policies because of an error of the agent's own. Pods that it is about are closed. One of
 * each kind is tried again at a time: what always fails must not make each event dear.
 */
import { messageOf } from '../../../../base/error-message.ts';
import type { Problem } from '../../problem.ts';
import type { PodState } from '../state.ts';
import type { AdminState, SiteState } from './admin-state.ts';
import type { PolicyNode } from './node-peers.ts';

export class AdminFailures {
  /** By key of the policy. */
  readonly #policies = new Map<string, string>();
  readonly #sites = new Map<SiteState, string>();
  readonly #nodes = new Map<string, FailedNode>();
  readonly #onFailure: () => void;

  constructor(onFailure: () => void) {
    this.#onFailure = onFailure;
  }

  get policy(): string | undefined {
    return this.#policies.keys().next().value;
  }

  get site(): SiteState | undefined {
    return this.#sites.keys().next().value;
  }

  get node(): readonly [name: string, after: PolicyNode | undefined] | undefined {
    const [name, node] = this.#nodes.entries().next().value ?? [];
    return name === undefined ? undefined : [name, node?.after];
  }

  hasPolicy(key: string): boolean {
    return this.#policies.has(key);
  }

  addPolicy(key: string, error: unknown): void {
    this.#policies.set(key, textOf(error));
    this.#onFailure();
  }

  /** @returns whether it had failed */
  deletePolicy(key: string): boolean {
    return this.#policies.delete(key);
  }

  addSite(site: SiteState, error: unknown): void {
    this.#sites.set(site, textOf(error));
    this.#onFailure();
  }

  /** @returns whether it had failed */
  deleteSite(site: SiteState): boolean {
    return this.#sites.delete(site);
  }

  /** Also of a policy that is gone: whoever has its name next has their rules. */
  sitesOf(key: string): SiteState[] {
    return [...this.#sites.keys().filter(({ state }) => state.key === key)];
  }

  /** @param states as it was known since rules followed it, and as it should be known: see `FailedNode` */
  addNode(name: string, states: Pick<FailedNode, 'before' | 'after'>, error: unknown): void {
    this.#nodes.set(name, { ...states, message: textOf(error) });
    this.#onFailure();
  }

  /** @returns what rules do not follow yet */
  deleteNode(name: string): readonly PolicyNode[] {
    const before = this.#nodes.get(name)?.before ?? [];
    this.#nodes.delete(name);
    return before;
  }

  /** @param areSubjectsKnown of a policy, as it is now: otherwise any pods can be @param states those that the pod is a subject of */
  isClosed(pod: PodState, areSubjectsKnown: (key: string) => boolean, states: ReadonlySet<AdminState>): boolean {
    if (this.#policies.keys().some((key) => !areSubjectsKnown(key))) return true;
    if (this.#policies.size === 0 && this.#sites.size === 0) return false;
    return states.values().some((state) => {
      const site = state.subjects.get(pod)?.site;
      return this.#policies.has(state.key) || (site !== undefined && this.#sites.has(site));
    });
  }

  problems(): Problem[] {
    const closed = (object: string, message: string): Problem => ({ object, message: `${message}: ${CLOSED}` });
    return [
      ...this.#policies.entries().map(([key, message]) => closed(key, message)),
      ...this.#sites.entries().map(([{ state, network }, message]) => closed(state.key, `${message} on ${network}`)),
      ...this.#nodes.entries().map(([name, { message }]) => ({ object: `Node/${name}`, message })),
    ];
  }
}

interface FailedNode {
  /** Rules that selected one of these may still have its addresses. */
  readonly before: readonly PolicyNode[];
  readonly after: PolicyNode | undefined;
  readonly message: string;
}

const CLOSED = 'pods that it is about are isolated and allowed nothing';

const textOf = (error: unknown): string =>
  `what policies of administrators make of it could not be worked out (${messageOf(error).slice(0, MAX_MESSAGE)})`;

/** It goes into events and logs. */
const MAX_MESSAGE = 400;
