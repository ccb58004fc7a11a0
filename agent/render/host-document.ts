/** What the host's network stack would get, as plain lists. */
import type { DesiredRule, HostItem } from '../../datapath/host/types.ts';
import type { FrameRule, FrameTest } from '../../datapath/netlink/frame-filter/types.ts';
import type { Route } from '../../datapath/netlink/route/types.ts';
import { cidrFamily, prefixLength } from '../../net/cidr.ts';

/** Fields that are absent are left out. */
export type DocumentItem = Readonly<Record<string, string | number | boolean>>;

export interface HostDocument {
  readonly links: readonly DocumentItem[];
  readonly addresses: readonly DocumentItem[];
  readonly routes: readonly DocumentItem[];
  readonly rules: readonly DocumentItem[];
  readonly neighbours: readonly DocumentItem[];
  /** As sysctl(8) names them: a dot in a link's name is a slash. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** What links may send: tests, of which all have to pass, and what becomes of the frame then. */
  readonly filters: readonly DocumentItem[];
}

export const hostDocument = (items: readonly HostItem[]): HostDocument => {
  const list = <Kind extends HostItem['kind']>(
    kind: Kind,
    entry: (item: Extract<HostItem, { kind: Kind }>) => object,
  ) =>
    items
      .flatMap((item) => (item.kind === kind ? [present(entry(item as Extract<HostItem, { kind: Kind }>))] : []))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const sysctls = items.flatMap((item) => (item.kind === 'sysctl' ? [item.sysctl] : []));
  return {
    links: list('link', ({ link }) => linkEntry(link)),
    addresses: list('address', ({ address: { link, address } }) => ({ link, address })),
    routes: list('route', ({ route }) => routeEntry(route)),
    rules: list('rule', ({ rule }) => ruleEntry(rule)),
    neighbours: list('neighbour', ({ neighbour: { link, address, mac } }) => ({ link, address, mac })),
    sysctls: Object.fromEntries(
      sysctls.map(({ key, value }): [string, string] => [sysctlName(key), value]).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    filters: list('filter', ({ filter: { link, rules } }) => ({ link, rules: rules.map(ruleWords).join('; ') })),
  };
};

const ruleWords = ({ tests, verdict }: FrameRule): string => [...tests.map(testWords), verdict].join(', ');

const testWords = (test: FrameTest): string =>
  Object.entries(test)
    .map(([name, value]) => `${name} ${value}`)
    .join(' ');

/** Links of ours are VRFs and internal ports of bridges. */
const linkEntry = (link: Extract<HostItem, { kind: 'link' }>['link']): object =>
  link.kind === 'vrf'
    ? { name: link.name, kind: 'vrf', table: link.table, up: true }
    : { name: link.name, kind: 'internal', master: link.master, mtu: link.mtu, address: link.mac, up: true };

const routeEntry = ({ table, dst, via, dev, src, mtu, metric, type, protocol, onlink }: Route): object => ({
  table,
  dst: prefixLength(dst) === 0 ? `default${cidrFamily(dst)}` : dst,
  via,
  dev,
  src,
  mtu,
  metric: metric === 0 || (cidrFamily(dst) === 6 && metric === KERNEL_IPV6_METRIC) ? undefined : metric,
  type,
  protocol,
  onlink,
});

/** Of a route without one. */
const KERNEL_IPV6_METRIC = 1024;

const ruleEntry = ({ family, priority, fwmark, to, from, iif, table }: DesiredRule): object => ({
  family,
  priority,
  fwmark: fwmark === undefined ? undefined : `0x${fwmark.toString(16)}`,
  to,
  from,
  iif,
  table,
});

const sysctlName = (key: string): string =>
  ['net', ...key.split('/')].map((part) => part.replaceAll('.', '/')).join('.');

const present = (entry: object): DocumentItem =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
