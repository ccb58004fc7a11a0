/** What a change of the fake's own namespace looks like to whoever watches. */
import { isDeepStrictEqual } from 'node:util';
import { cidrFamily, prefixLength } from '../../../net/cidr.ts';
import type { KernelOp, Netns } from '../kernel/types.ts';
import type { NetlinkEvent } from '../monitor/events.ts';
import { OUR_PROTOCOL, routeKey } from '../route/types.ts';
import { ruleText } from '../rule/types.ts';

type ObjectEvent = Exclude<NetlinkEvent, { kind: 'lost' }>;
type State = ReadonlyMap<string, ObjectEvent>;

/** Everything that is there, as if it were new. */
export const stateOf = (netns: Netns): State => {
  const routes = ([4, 6] as const).flatMap((family) => netns.routes({ family }));
  const events: ObjectEvent[] = [
    ...netns.links().map((link) => ({ kind: 'link', change: 'new', link }) as const),
    ...netns.addresses().map((address) => ({ kind: 'address', change: 'new', address }) as const),
    ...routes.map((route) => ({ kind: 'route', change: 'new', replaced: false, route }) as const),
    ...netns.rules().map((rule) => ({ kind: 'rule', change: 'new', rule }) as const),
    ...netns.neighbours().map((neighbour) => ({ kind: 'neighbour', change: 'new', neighbour }) as const),
    ...netns.links().flatMap(({ name }) => settingsOf(netns, name)),
  ];
  return new Map(events.map((event) => [keyOf(event), event]));
};

/** Addresses and routes of a link go before the link does. */
export const eventsBetween = (op: KernelOp, before: State, after: State): NetlinkEvent[] => {
  const gone = [...before]
    .filter(([key, event]) => !after.has(key) && (op.op === 'route.delete' || !isFlushed(event)))
    .map(([, event]) => goneOf(event));
  const changed = [...after].flatMap(([key, event]): ObjectEvent[] => {
    const old = before.get(key);
    if (old === undefined) return [event];
    if (isDeepStrictEqual(old, event)) return [];
    if (event.kind !== 'route') return [event];
    // An IPv6 route loses its source without a word when the address goes.
    return op.op === 'route.put' ? [{ ...event, replaced: true }] : [];
  });
  const events: ObjectEvent[] = [
    ...gone.filter(({ kind }) => kind !== 'link' && kind !== 'setting'),
    ...gone.filter(({ kind }) => kind === 'link'),
    ...changed,
  ];
  return events.filter(isReported);
};

const settingsOf = (netns: Netns, link: string): ObjectEvent[] =>
  SETTINGS.flatMap(([family, name]): ObjectEvent[] => {
    const key = `${family}/conf/${link}/${name}`;
    const value = netns.sysctl(key);
    return value === undefined ? [] : [{ kind: 'setting', change: 'new', key, value }];
  });
/** The events that the kernel sends. */
const SETTINGS = [
  ['ipv4', 'forwarding'],
  ['ipv4', 'rp_filter'],
  ['ipv6', 'forwarding'],
] as const;

/** A link goes down before it goes. Settings go with their link, without a word. */
const goneOf = (event: ObjectEvent): ObjectEvent =>
  event.kind === 'setting'
    ? event
    : event.kind === 'link'
      ? { ...event, change: 'gone', link: { ...event.link, up: false, carrier: false } }
      : { ...event, change: 'gone' };

/** As `NetlinkEvent` says. */
const isReported = (event: ObjectEvent): boolean =>
  event.kind !== 'route' ||
  event.replaced ||
  event.route.protocol === OUR_PROTOCOL ||
  prefixLength(event.route.dst) === 0;

/**
 * The kernel sends no event of IPv4 routes that go with a link's state or address: a listener has to conclude it
 * (net/ipv4/fib_trie.c, fib_table_flush).
 */
const isFlushed = (event: ObjectEvent): boolean => event.kind === 'route' && cidrFamily(event.route.dst) === 4;

const keyOf = (event: ObjectEvent): string => {
  switch (event.kind) {
    case 'link':
      return `link ${event.link.index}`;
    case 'address':
      return `address ${event.address.link} ${event.address.address}`;
    case 'route':
      return `route ${routeKey(event.route)} ${event.route.protocol === 2 ? event.route.dev : ''}`;
    case 'rule':
      return `rule ${ruleText(event.rule)} ${event.rule.protocol}`;
    case 'neighbour':
      return `neighbour ${event.neighbour.link} ${event.neighbour.address}`;
    case 'setting':
      return `setting ${event.key}`;
  }
};
