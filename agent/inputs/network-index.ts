/**
 * Networks as facts, from their NADs. A network may have a NAD in each of several namespaces; the oldest that has an id
 * defines it, and one that contradicts it is reported and ignored, so that no edit of one namespace's NAD changes the
 * network of another.
 */
import type { ClusterConfig } from '../../api/cluster-config.ts';
import { type NamedNad, takesName } from '../../api/nad-owner.ts';
import { DEFAULT_NETWORK_NAME, networkPrefix } from '../../api/names.ts';
import { networkOfNetConf } from '../../api/network.ts';
import type { ProblemCause } from '../../api/problem-causes.ts';
import type { NetworkId } from '../../net/ids.ts';
import type { FactStore } from '../model/fact-store.ts';
import type { NadProjection } from './nad-projection.ts';
import { NetworkClaims } from './network-claims.ts';
import { ageKey, NetworkNads } from './network-nads.ts';
import type { Problem } from './problem.ts';

/**
 * Which other network has an id, although no NAD says so.
 * @param isHere the one that asks has it on this node
 */
export type HolderOf = (id: NetworkId, network: string, isHere: boolean) => string | undefined;

interface Compared {
  readonly definition: NadProjection | undefined;
  readonly rival: string | undefined;
}

export class NetworkIndex {
  readonly #facts: FactStore;
  readonly #cluster: ClusterConfig;
  readonly #byNetwork = new Map<string, NetworkNads>();
  /** Network → what its NADs were compared with. */
  readonly #compared = new Map<string, Compared>();
  readonly #primaryByNamespace = new Map<string, Map<string, NadProjection>>();
  readonly #mismatches = new Map<string, Problem>();
  readonly #rivals = new Map<string, Problem>();
  /** Primary ones with plugins beside ours: the primary interface is made by the call for the pod, and no list of a NAD is executed. */
  readonly #notExecuted = new Map<string, Problem>();
  /** Edited while pods are on the network. */
  readonly #ignored = new Map<string, Problem>();
  readonly #claims = new NetworkClaims();
  /** Network → when the NAD that defines it was created. */
  readonly #since = new Map<string, string>();
  readonly #listeners = new Set<(network: string) => void>();
  #holderOf: HolderOf = () => undefined;

  constructor(facts: FactStore, cluster: ClusterConfig) {
    this.#facts = facts;
    this.#cluster = cluster;
  }

  /** NADs that contradict another one of their network or namespace, or are not followed in full. */
  get problems(): readonly Problem[] {
    const all = [this.#mismatches, this.#rivals, this.#notExecuted, this.#ignored];
    return all.flatMap((problems) => [...problems.values()]);
  }

  /** When the NAD that defines a network was created, as the API writes times; empty: there is none. */
  createdAt(network: string): string {
    return this.#since.get(network) ?? '';
  }

  /** Called with a network that another NAD defines from now on, one that was created at another time. @returns what ends it */
  onRedefined(listener: (network: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From now on a network whose id another one still has on this node, or may have, waits until `review`. */
  withhold(holderOf: HolderOf): void {
    this.#holderOf = holderOf;
  }

  /** Somebody else may have an id from now on. */
  review(id: number): void {
    for (const network of this.#claims.claimantsOf(id))
      if (network !== DEFAULT_NETWORK_NAME) this.#publishNetwork(network);
  }

  /** Undefined when the NAD is gone. */
  change(before: NadProjection | undefined, after: NadProjection | undefined): void {
    if (before !== undefined) this.#update(before, false);
    if (after !== undefined) this.#update(after, true);
    for (const network of new Set([before?.conf.name, after?.conf.name])) {
      if (network !== undefined) this.#claim(network, after);
    }
    for (const namespace of new Set([before?.namespace, after?.namespace])) {
      if (namespace !== undefined) this.#publishPrimary(namespace);
    }
    if (after === undefined && before !== undefined) this.#forget(before);
  }

  #update(nad: NadProjection, present: boolean): void {
    const { name } = nad.conf;
    const nads = this.#byNetwork.get(name) ?? new NetworkNads();
    if (present) nads.add(nad);
    else nads.delete(nad);
    if (nads.isEmpty) this.#byNetwork.delete(name);
    else this.#byNetwork.set(name, nads);
    if (nad.conf.role === 'primary') putInGroup(this.#primaryByNamespace, nad.namespace, nad, present);
  }

  /** Publishes the network, and those that had to stand back for it or have to from now on. */
  #claim(name: string, changed: NadProjection | undefined): void {
    const first = this.#byNetwork.get(name)?.definition;
    const claim = first?.keys && { network: name, age: ageKey(first), keys: first.keys };
    for (const network of this.#claims.set(name, claim)) this.#publishNetwork(network, changed);
  }

  /** @param changed of this network or of another one */
  #publishNetwork(name: string, changed?: NadProjection): void {
    const first = this.#byNetwork.get(name)?.definition;
    const rival = this.#claims.rivalOf(name) ?? (first?.keys && this.#stillHas(first.keys.id, name));
    const network = first?.keys && {
      ...networkOfNetConf(first.conf, this.#cluster),
      id: first.keys.id,
      tunnelKeys: first.keys.tunnelKeys,
    };
    const counts = rival === undefined && network !== undefined;
    // With another id it is another network: what the one before had is taken away.
    if (this.#facts.get('network', name)?.id !== network?.id) this.#facts.set('network', name, undefined);
    this.#facts.set('network', name, counts ? network : undefined);
    this.#setPrefix(name, counts);
    this.#note(name, first?.createdAt);
    this.#compare(name, { definition: first, rival }, changed);
  }

  /** All NADs only when they are compared with something else than before. */
  #compare(name: string, now: Compared, changed: NadProjection | undefined): void {
    const nads = this.#byNetwork.get(name);
    const before = this.#compared.get(name);
    if (nads === undefined) this.#compared.delete(name);
    else this.#compared.set(name, now);
    if (nads === undefined) return;
    const isSame = before !== undefined && sameComparison(before, now);
    if (!isSame) for (const nad of nads.values()) this.#publishNad(nad, now);
    else if (changed !== undefined && nads.get(changed.key) === changed) this.#publishNad(changed, now);
  }

  #publishNad(nad: NadProjection, { definition, rival }: Compared): void {
    const { name } = nad.conf;
    const contradiction = definition === undefined ? undefined : contradictionOf(nad, definition);
    const agrees = contradiction === undefined;
    this.#facts.set('nad', nad.key, agrees ? name : undefined);
    this.#facts.set('handmadeNad', nad.key, nad.isHandmade ? true : undefined);
    this.#facts.set('nadBeside', nad.key, nad.beside.length === 0 ? undefined : nad.beside);
    const shared = `network ${name} has an id, a tunnel key or names of OVN rows that belong to network ${rival}`;
    const message = contradiction ?? (rival && shared);
    this.#facts.set('nadProblem', nad.key, message === undefined ? undefined : { message, contradicts: !agrees });
    setProblem(this.#mismatches, nad, 'network-invalid', message);
    setProblem(this.#notExecuted, nad, 'network-invalid', notExecuted(nad));
    setProblem(this.#ignored, nad, 'network-invalid', nad.ignored);
  }

  /** Of two networks with one prefix only the one that counts takes it away. */
  #setPrefix(network: string, counts: boolean): void {
    const prefix = networkPrefix(network);
    if (counts) this.#facts.set('networkPrefix', prefix, network);
    else if (this.#facts.get('networkPrefix', prefix) === network) this.#facts.set('networkPrefix', prefix, undefined);
  }

  #stillHas(id: NetworkId, network: string): string | undefined {
    const isHere = this.#facts.get('network', network)?.id === id;
    return this.#holderOf(id, network, isHere);
  }

  #note(network: string, createdAt: string | undefined): void {
    const before = this.#since.get(network);
    if (createdAt === undefined) this.#since.delete(network);
    else this.#since.set(network, createdAt);
    if (before === createdAt || before === undefined || createdAt === undefined) return;
    for (const listener of this.#listeners) listener(network);
  }

  #publishPrimary(namespace: string): void {
    const [first, ...others] = sorted(this.#primaryByNamespace.get(namespace));
    this.#facts.set('primaryNad', namespace, first && { nad: first.key, network: first.conf.name });
    if (first !== undefined) this.#rivals.delete(first.key);
    for (const nad of others) {
      setProblem(
        this.#rivals,
        nad,
        'primary-taken',
        `primary network already exist in namespace "${namespace}": "${first?.key}"`,
      );
    }
  }

  #forget({ key }: NadProjection): void {
    this.#facts.set('nad', key, undefined);
    this.#facts.set('nadProblem', key, undefined);
    this.#facts.set('handmadeNad', key, undefined);
    this.#facts.set('nadBeside', key, undefined);
    this.#mismatches.delete(key);
    this.#notExecuted.delete(key);
    this.#ignored.delete(key);
    this.#rivals.delete(key);
  }
}

/** Whether NADs compared with one give what they gave compared with the other. */
const sameComparison = (a: Compared, b: Compared): boolean =>
  a.rival === b.rival &&
  (a.definition === b.definition ||
    (a.definition !== undefined && b.definition !== undefined && sameDefinition(a.definition, b.definition)));

const sameDefinition = (a: NadProjection, b: NadProjection): boolean =>
  a.key === b.key && a.isRendered === b.isRendered && a.networkText === b.networkText;

/** Why a NAD is not of the network that it names. @param first the NAD that defines it */
const contradictionOf = (nad: NadProjection, first: NadProjection): string | undefined => {
  const { name } = first.conf;
  if (takesName(namedNad(nad), namedNad(first))) return `network ${name} belongs to NAD ${first.key}`;
  return nad.networkText === first.networkText
    ? undefined
    : `CNI config does not match that of network ${name} in NAD ${first.key}`;
};

const notExecuted = ({ conf, beside }: NadProjection): string | undefined =>
  conf.role === 'primary' && beside.length > 0
    ? `plugins: ${beside.join(', ')} beside ours are not executed for a primary network, and have no effect`
    : undefined;

const namedNad = ({ namespace, conf, isRendered }: NadProjection): NamedNad => ({
  namespace,
  network: conf.name,
  isRendered,
});

const setProblem = (
  problems: Map<string, Problem>,
  { key }: NadProjection,
  cause: ProblemCause,
  message: string | undefined,
): void => {
  if (message === undefined) problems.delete(key);
  else problems.set(key, { object: `NetworkAttachmentDefinition/${key}`, message, cause });
};

const putInGroup = (
  groups: Map<string, Map<string, NadProjection>>,
  name: string,
  nad: NadProjection,
  present: boolean,
): void => {
  const group = groups.get(name) ?? new Map<string, NadProjection>();
  if (present) group.set(nad.key, nad);
  else group.delete(nad.key);
  if (group.size === 0) groups.delete(name);
  else groups.set(name, group);
};

const sorted = (group: ReadonlyMap<string, NadProjection> | undefined): NadProjection[] =>
  [...(group?.values() ?? [])].sort((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1));
