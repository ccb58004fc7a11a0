/**
 * The whole desired state of the bridges, as the bridges know it, with what is needed to look at no more than what changed.
 */
import { MultiMap } from '../../base/multi-map.ts';
import { type Compiled, compile, portsOf } from './compile.ts';
import type { DesiredBridge, Scope } from './plan.ts';
import type { PortNumbers } from './port-numbers.ts';
import type { FlowState } from './text/flow.ts';
import type { BridgeItem } from './types.ts';

type CompiledPort = Extract<Compiled, { readonly kind: 'noFlood' }>;

interface Entry {
  readonly item: BridgeItem;
  readonly compiled: Compiled;
}

/** What became of keys: which part of which bridge is to be looked at. */
export class Touched implements Scope {
  readonly flows = new Set<string>();
  readonly groups = new Set<number>();
  readonly #buckets = new Map<string, readonly [number, number]>();
  readonly ports = new Set<number>();

  get buckets(): Iterable<readonly [number, number]> {
    return this.#buckets.values();
  }

  add(other: Touched): void {
    for (const flow of other.flows) this.flows.add(flow);
    for (const group of other.groups) this.groups.add(group);
    for (const [name, bucket] of other.#buckets) this.#buckets.set(name, bucket);
    for (const port of other.ports) this.ports.add(port);
  }

  addBucket(group: number, bucket: number): void {
    this.#buckets.set(`${group} ${bucket}`, [group, bucket]);
  }
}

/** One map for both: there are tens of thousands of flows. */
interface DesiredFlow extends FlowState {
  readonly key: string;
}

/** One bridge: the desired state, and by which key. */
class BridgeWants implements DesiredBridge {
  readonly flows = new Map<string, DesiredFlow>();
  readonly groups = new Map<number, Map<number, string>>();
  readonly noFlood = new Set<number>();
  /** By name: ports that are not to be flooded to. */
  readonly noFloodPorts = new Map<string, number>();
  /** By name: ports of which that is desired no longer. */
  readonly releasedPorts = new Map<string, number>();
  /** Of groups by `id`, of buckets by `id bucket`, of ports by `port number`. */
  readonly keysOfOthers = new Map<string, string>();
  /** Port → keys that need its number. */
  readonly keysOfPorts = new MultiMap<string>();
  readonly keys = new Set<string>();
  readonly buckets = new Map<number, Map<number, string>>();

  get released(): ReadonlySet<number> {
    return new Set(this.releasedPorts.values());
  }

  get isEmpty(): boolean {
    return this.keys.size === 0 && this.releasedPorts.size === 0;
  }
}

const NOTHING: DesiredBridge = { flows: new Map(), groups: new Map(), noFlood: new Set(), released: new Set() };

export class Wants {
  readonly #ports: Pick<PortNumbers, 'hasBridge' | 'ofport'>;
  readonly #entries = new Map<string, Entry>();
  readonly #bridges = new Map<string, BridgeWants>();
  readonly #problems = new Map<string, Compiled & { readonly kind: 'waiting' | 'failed' }>();
  /** The desired state under two keys: the place → keys that have to wait until the first one goes. */
  readonly #rivals = new Map<string, Set<string>>();

  constructor(ports: Pick<PortNumbers, 'hasBridge' | 'ofport'>) {
    this.#ports = ports;
  }

  get bridges(): Iterable<string> {
    return this.#bridges.keys();
  }

  get keys(): Iterable<string> {
    return this.#entries.keys();
  }

  itemOf(key: string): BridgeItem | undefined {
    return this.#entries.get(key)?.item;
  }

  desired(bridge: string): DesiredBridge {
    return this.#bridges.get(bridge) ?? NOTHING;
  }

  /** Keys that are not on a bridge because something is missing or wrong. */
  get problems(): ReadonlyMap<string, { readonly kind: 'waiting' | 'failed'; readonly reason: string }> {
    return this.#problems;
  }

  keysOf(bridge: string): ReadonlySet<string> {
    return this.#bridges.get(bridge)?.keys ?? new Set();
  }

  keysOfPort(bridge: string, port: string): Iterable<string> {
    return this.#bridges.get(bridge)?.keysOfPorts.get(port) ?? [];
  }

  keyOfFlow(bridge: string, identity: string): string | undefined {
    return this.#bridges.get(bridge)?.flows.get(identity)?.key;
  }

  keyOfGroup(bridge: string, group: number): string | undefined {
    return this.#bridges.get(bridge)?.keysOfOthers.get(`group ${group}`);
  }

  keyOfBucket(bridge: string, group: number, bucket: number): string | undefined {
    return this.#bridges.get(bridge)?.keysOfOthers.get(`bucket ${group} ${bucket}`);
  }

  keyOfPort(bridge: string, port: number): string | undefined {
    return this.#bridges.get(bridge)?.keysOfOthers.get(`port ${port}`);
  }

  /** The port went, came or has another number. @returns the number that it had, if floods were not to reach it */
  forgetPort(bridge: string, port: string): number | undefined {
    const wants = this.#bridges.get(bridge);
    const number = wants?.noFloodPorts.get(port) ?? wants?.releasedPorts.get(port);
    wants?.releasedPorts.delete(port);
    if (wants?.isEmpty === true) this.#bridges.delete(bridge);
    return number;
  }

  /** Floods reach them again. */
  forgetReleased(bridge: string): void {
    const wants = this.#bridges.get(bridge);
    wants?.releasedPorts.clear();
    if (wants?.isEmpty === true) this.#bridges.delete(bridge);
  }

  /** From now on `item` is desired under this key, or nothing. Adds to `touched`, by bridge, what it was and what it is. */
  set(key: string, item: BridgeItem | undefined, touched: Map<string, Touched>): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#remove(key, before, touched);
    if (item !== undefined) this.#add(key, item, touched);
    if (before === undefined) return;
    for (const rival of this.#takeRivals(before)) this.#retry(rival, touched);
  }

  #add(key: string, item: BridgeItem, touched: Map<string, Touched>): void {
    const wants = this.#wantsOf(item.bridge);
    let compiled = compile(item, this.#ports);
    const holder = this.#holder(wants, compiled);
    const slot = holder === undefined ? undefined : slotOf(item.bridge, compiled);
    if (slot !== undefined) {
      const rivals = this.#rivals.get(slot);
      if (rivals === undefined) this.#rivals.set(slot, new Set([key]));
      else rivals.add(key);
      compiled = { kind: 'failed', reason: `is the same as ${holder}` };
    }
    this.#entries.set(key, { item, compiled });
    wants.keys.add(key);
    for (const port of portsOf(item)) wants.keysOfPorts.add(port, key);
    if (compiled.kind === 'waiting' || compiled.kind === 'failed') this.#problems.set(key, compiled);
    touch(touchedOf(touched, item.bridge), compiled);
    put(wants, key, compiled);
  }

  #remove(key: string, { item, compiled }: Entry, touched: Map<string, Touched>): void {
    const wants = this.#wantsOf(item.bridge);
    this.#entries.delete(key);
    this.#problems.delete(key);
    wants.keys.delete(key);
    for (const port of portsOf(item)) wants.keysOfPorts.delete(port, key);
    // Of a port that is no longer to be left out of floods nothing is changed at once: mostly it is about to go.
    if (compiled.kind === 'noFlood') this.#release(wants, item.bridge, compiled);
    else touch(touchedOf(touched, item.bridge), compiled);
    take(wants, compiled);
    if (wants.isEmpty) this.#bridges.delete(item.bridge);
  }

  #release({ releasedPorts }: BridgeWants, bridge: string, { name, port }: CompiledPort): void {
    if (this.#ports.ofport(bridge, name) === port) releasedPorts.set(name, port);
  }

  #holder(wants: BridgeWants, compiled: Compiled): string | undefined {
    return compiled.kind === 'flow'
      ? wants.flows.get(compiled.flow.identity)?.key
      : wants.keysOfOthers.get(nameOf(compiled) ?? '');
  }

  #takeRivals({ item, compiled }: Entry): Iterable<string> {
    const slot = this.#rivals.size === 0 ? undefined : slotOf(item.bridge, compiled);
    if (slot === undefined) return [];
    const rivals = this.#rivals.get(slot) ?? [];
    this.#rivals.delete(slot);
    return rivals;
  }

  /** A rival may be desired no longer, or may be something else by now. */
  #retry(key: string, touched: Map<string, Touched>): void {
    const entry = this.#entries.get(key);
    if (entry?.compiled.kind === 'failed') this.set(key, entry.item, touched);
  }

  #wantsOf(bridge: string): BridgeWants {
    const known = this.#bridges.get(bridge);
    if (known !== undefined) return known;
    const wants = new BridgeWants();
    this.#bridges.set(bridge, wants);
    return wants;
  }
}

/** The part of the bridge, which is there from now on: it is looked at, even if nothing is added. */
export const touchedOf = (touched: Map<string, Touched>, bridge: string): Touched => {
  const known = touched.get(bridge) ?? new Touched();
  touched.set(bridge, known);
  return known;
};

const touch = (touched: Touched, compiled: Compiled): void => {
  if (compiled.kind === 'flow') touched.flows.add(compiled.flow.identity);
  if (compiled.kind === 'group') touched.groups.add(compiled.group);
  if (compiled.kind === 'bucket') touched.addBucket(compiled.group, compiled.bucket);
  if (compiled.kind === 'noFlood') touched.ports.add(compiled.port);
};

const nameOf = (compiled: Compiled): string | undefined => {
  switch (compiled.kind) {
    case 'group':
      return `group ${compiled.group}`;
    case 'bucket':
      return `bucket ${compiled.group} ${compiled.bucket}`;
    case 'noFlood':
      return `port ${compiled.port}`;
    default:
      return undefined;
  }
};

const slotOf = (bridge: string, compiled: Compiled): string | undefined => {
  const name = compiled.kind === 'flow' ? compiled.flow.identity : nameOf(compiled);
  return name === undefined ? undefined : `${bridge} ${name}`;
};

const put = (wants: BridgeWants, key: string, compiled: Compiled): void => {
  if (compiled.kind === 'flow') {
    const { identity, cookie, actions } = compiled.flow;
    wants.flows.set(identity, { cookie, actions, key });
    return;
  }
  const name = nameOf(compiled);
  if (name !== undefined) wants.keysOfOthers.set(name, key);
  if (compiled.kind === 'group') wants.groups.set(compiled.group, bucketsOf(wants, compiled.group));
  if (compiled.kind === 'bucket') bucketsOf(wants, compiled.group).set(compiled.bucket, compiled.actions);
  if (compiled.kind === 'noFlood') {
    wants.noFlood.add(compiled.port);
    wants.noFloodPorts.set(compiled.name, compiled.port);
    wants.releasedPorts.delete(compiled.name);
  }
};

const take = (wants: BridgeWants, compiled: Compiled): void => {
  if (compiled.kind === 'flow') {
    wants.flows.delete(compiled.flow.identity);
    return;
  }
  const name = nameOf(compiled);
  if (name !== undefined) wants.keysOfOthers.delete(name);
  if (compiled.kind === 'group') wants.groups.delete(compiled.group);
  if (compiled.kind === 'bucket') bucketsOf(wants, compiled.group).delete(compiled.bucket);
  if (compiled.kind === 'noFlood') {
    wants.noFlood.delete(compiled.port);
    wants.noFloodPorts.delete(compiled.name);
  }
};

/** Buckets may be desired before their group is, and the other way round. */
const bucketsOf = (wants: BridgeWants, group: number): Map<number, string> => {
  const known = wants.buckets.get(group);
  if (known !== undefined) return known;
  const buckets = new Map<number, string>();
  wants.buckets.set(group, buckets);
  return buckets;
};
