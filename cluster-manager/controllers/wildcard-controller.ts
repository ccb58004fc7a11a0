/**
 * Keeps a DNSNameResolver of each wildcard that a policy has, in one namespace: the plugin of CoreDNS writes into its status what it answers to
 * pods, and agents read that (docs/adr/0136). What does not have our label is never touched.
 */
import { z } from 'zod';
import { dnsNameResolverName, RESOLVER_LABEL } from '../../api/dns-name-resolver.ts';
import { DNS_NAME_RESOLVERS } from '../../api/resources.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { isAbsentResource, isAlreadyExists, isMoot } from '../../kube/errors.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { Reflector, ReflectorObservation, ReflectorOptions } from '../../kube/reflector/types.ts';
import type { KubeClient, KubeObject } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { DomainName } from '../../net/domain-name.ts';
import { WildcardUses } from '../state/wildcard-uses.ts';
import type { MirrorObservation } from './caches.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import type { Reconcile } from './types.ts';

export interface WildcardsOptions extends Pick<ReflectorOptions<unknown>, 'outage' | 'clock' | 'random'> {
  readonly client: KubeClient;
  readonly writer: Pick<Writer, 'create'>;
  readonly problems: ProblemReporter;
  /** Of the objects. */
  readonly namespace: string;
  readonly observe: (observation: MirrorObservation) => void;
  /** Default: as many as agents follow. */
  readonly most?: number | undefined;
}

export interface Wildcards {
  readonly uses: WildcardUses;
  /** The key is the name of a DNSNameResolver. */
  readonly reconcile: Reconcile;
  /** Mirrors until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** To be called when all that may have wildcards has been read. */
  follow(enqueue: (key: string) => void): void;
  /** Those without a DNSNameResolver, each with why. */
  findings(wildcards: readonly DomainName[]): readonly string[];
  /** Called soon after these may be others, with a key of `uses`. */
  onFindings(listener: (user: string) => void): void;
}

interface Known {
  readonly uid: string;
  /** As it is written; undefined: there is none. */
  readonly wildcard: string | undefined;
}

export const createWildcards = (options: WildcardsOptions): Wildcards => {
  const { namespace, most } = options;
  const uses = new WildcardUses(most);
  let onServed: () => void = () => undefined;
  const mirror = createMirror(options, () => onServed());
  const failures = new Failures(uses, {
    ...options,
    isThere: (wildcard) => mirror.get(`${namespace}/${dnsNameResolverName(wildcard)}`)?.wildcard === wildcard,
  });
  return {
    uses,
    findings: (wildcards) => failures.findings(wildcards),
    onFindings: (listener) => failures.onFindings(listener),
    reconcile: async (key, signal) => {
      const wildcard = uses.chosen().get(key);
      const actual = mirror.get(`${namespace}/${key}`);
      // Of another name it can't be changed: what is deleted is created again, when the mirror hears of it.
      if (actual !== undefined && actual.wildcard !== wildcard) await remove(options, key, actual, signal);
      else if (actual === undefined && wildcard !== undefined) {
        const why = await create(options, key, wildcard, signal);
        failures.set(key, why);
        return why === undefined ? undefined : { requeueAfterMs: RETRY_MS };
      }
      failures.set(key, undefined);
      return undefined;
    },
    run: (signal) => mirror.run(signal),
    whenSynced: (signal) => mirror.whenSynced(signal),
    follow: (enqueue) => {
      let before: ReadonlyMap<string, DomainName> = new Map();
      const changed = (): void => {
        const chosen = uses.chosen();
        for (const key of new Set([...before.keys(), ...chosen.keys()]))
          if (before.get(key) !== chosen.get(key)) enqueue(key);
        before = chosen;
        failures.tell();
      };
      uses.onChange(changed);
      mirror.subscribe(({ key }) => {
        enqueue(key.slice(namespace.length + 1));
        failures.tell();
      });
      onServed = () => {
        for (const key of uses.chosen().keys()) if (!mirror.has(`${namespace}/${key}`)) enqueue(key);
      };
      changed();
    },
  };
};

const createMirror = (
  { client, outage, clock, random, namespace, observe }: WildcardsOptions,
  onServed: () => void,
): Reflector<Known> => {
  const resource = DNS_NAME_RESOLVERS;
  return createReflector<Known>({
    ...{ client, outage, clock, random, resource, namespace, optional: true },
    labelSelector: RESOLVER_LABEL,
    // Whoever sets the option means to install the kind.
    timings: { absentMs: 5_000 },
    project: ({ metadata: { uid = '' }, ...object }) => ({ uid, wildcard: wildcardIn(object) }),
    observe: (about: ReflectorObservation) => {
      if (about.kind === 'listed') onServed();
      if (about.kind !== 'absent') observe({ ...about, resource: resource.plural });
    },
  });
};

const wildcardIn = (object: unknown): string | undefined => {
  const read = z.object({ spec: z.object({ name: z.string() }) }).safeParse(object);
  return read.success ? read.data.spec.name : undefined;
};

/** @returns why it could not be created, where that is for people to change */
const create = async (
  { client, writer, namespace }: WildcardsOptions,
  name: string,
  wildcard: DomainName,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const metadata = { namespace, name, labels: { [RESOLVER_LABEL]: '' } };
  try {
    await writer.create(DNS_NAME_RESOLVERS, { metadata, spec: { name: wildcard } }, signal);
    return undefined;
  } catch (error) {
    if (isAbsentResource(error)) return NOT_SERVED;
    if (!isAlreadyExists(error)) throw error;
    const found = await client.get(DNS_NAME_RESOLVERS, { namespace, name }, signal);
    return isOurs(found) ? undefined : `there is a DNSNameResolver ${namespace}/${name} that is not of ovn-udn`;
  }
};

const isOurs = ({ metadata: { labels } }: KubeObject): boolean => labels?.[RESOLVER_LABEL] !== undefined;

const remove = async (
  { client, namespace }: WildcardsOptions,
  name: string,
  { uid }: Known,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await client.delete(DNS_NAME_RESOLVERS, { namespace, name }, { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isMoot(error)) throw error;
  }
};

interface FailuresOptions extends Pick<WildcardsOptions, 'problems' | 'clock'> {
  /** Whether the mirror has its DNSNameResolver. */
  readonly isThere: (wildcard: DomainName) => boolean;
}

/** Why wildcards have no DNSNameResolver, told to those who name them. */
class Failures {
  readonly #uses: WildcardUses;
  readonly #options: FailuresOptions;
  readonly #clock: Clock;
  #isDue = false;
  readonly #whys = new Map<string, string>();
  /** What was told, by key of the user. */
  readonly #told = new Map<string, Told>();
  #listener: (user: string) => void = () => undefined;

  constructor(uses: WildcardUses, options: FailuresOptions) {
    this.#uses = uses;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  set(key: string, why: string | undefined): void {
    if (this.#whys.get(key) === why) return;
    if (why === undefined) this.#whys.delete(key);
    else this.#whys.set(key, why);
    this.tell();
  }

  /** Soon: where a kind is not served, thousands of wildcards fail at once. */
  tell(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.schedule(TELL_MS, () => {
      this.#isDue = false;
      this.#report();
    });
  }

  onFindings(listener: (user: string) => void): void {
    this.#listener = listener;
  }

  findings(wildcards: readonly DomainName[]): readonly string[] {
    return wildcards.flatMap((wildcard) => {
      const why = this.#whyOf(wildcard) ?? (this.#options.isThere(wildcard) ? undefined : NOT_YET);
      return why === undefined ? [] : [findingOf(wildcard, why)];
    });
  }

  #whyOf(wildcard: DomainName): string | undefined {
    const key = dnsNameResolverName(wildcard);
    return this.#uses.chosen().has(key) ? this.#whys.get(key) : NO_ROOM;
  }

  #report(): void {
    const before = new Map(this.#told);
    this.#told.clear();
    for (const [user, { regarding, wildcards }] of this.#uses.users()) {
      const messages = wildcards.flatMap((wildcard) => {
        const why = this.#whyOf(wildcard);
        return why === undefined ? [] : [findingOf(wildcard, why)];
      });
      const findings = this.findings(wildcards).join();
      if (findings !== (before.get(user)?.findings ?? '')) this.#listener(user);
      if (messages.length > 0) this.#options.problems.report(regarding, REASON, messages.slice(0, MAX_TOLD));
      else if (before.get(user)?.hasEvent === true) this.#options.problems.report(regarding, REASON, []);
      if (findings !== '') this.#told.set(user, { regarding, findings, hasEvent: messages.length > 0 });
      before.delete(user);
    }
    for (const { regarding, hasEvent } of before.values())
      if (hasEvent) this.#options.problems.report(regarding, REASON, []);
  }
}

interface Told {
  readonly regarding: Parameters<ProblemReporter['report']>[0];
  readonly findings: string;
  readonly hasEvent: boolean;
}

const findingOf = (wildcard: DomainName, why: string): string =>
  `${wildcard.slice(0, -1)}: ${why}; rules with it allow nothing by it`;

const REASON = 'WildcardNotFollowed';
const NOT_SERVED = 'the API server has no DNSNameResolver (network.openshift.io/v1alpha1)';
const NO_ROOM = 'there are too many wildcards in the cluster, and those of policies with fewer have room first';
const NOT_YET = 'it has no DNSNameResolver yet';
/** What others have taken may be free by then. */
const RETRY_MS = 30_000;
const TELL_MS = 500;
/** Events of one object. */
const MAX_TOLD = 3;
