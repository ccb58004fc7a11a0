/** Things of the host as `ip` and `sysctl` write them, one line each. */
import type { Address } from '../netlink/address/types.ts';
import type { Link } from '../netlink/link/types.ts';
import { OUR_PROTOCOL, type Route } from '../netlink/route/types.ts';
import type { Mirror } from './mirror.ts';
import { desiredDigest } from './port-filter.ts';
import { type DesiredAddress, type DesiredLink, type HostItem, hostItemKey } from './types.ts';

export const desiredWords = (item: HostItem): string => {
  switch (item.kind) {
    case 'link':
      return desiredLink(item.link);
    case 'address':
      return addressWords(item.address);
    case 'route':
      return routeWords(item.route);
    case 'rule':
      return ruleWords(item);
    case 'neighbour':
      return neighbourWords(item.neighbour.link, item.neighbour.address, item.neighbour.mac);
    case 'sysctl':
      return sysctlWords(item.sysctl.key, item.sysctl.value);
    case 'filter':
      return filterWords(item.filter.link, desiredDigest(item.filter));
  }
};

/** What is there under a key; undefined when nothing is. */
export const actualWords = (key: string, mirror: Mirror): string | undefined => {
  const [kind, name = '', rest = ''] = key.split(' ');
  switch (kind) {
    case 'link': {
      const link = mirror.links.get(name);
      return link && actualLink(link, mirror);
    }
    case 'address': {
      const same = [...mirror.addressesOf(name)].find(({ address }) => address === rest);
      return same && addressWords(same);
    }
    case 'route':
      return mirror.routes.get(key)?.map(routeWords).join('; ');
    case 'rule':
      return mirror.rules.has(key) ? ruleText(key) : undefined;
    case 'neighbour': {
      const mac = mirror.neighbour(name, rest);
      return mac && neighbourWords(name, rest, mac);
    }
    case 'filter': {
      const digest = mirror.filter(name)?.digest;
      return digest === undefined ? undefined : filterWords(name, digest);
    }
    default: {
      const value = mirror.sysctl(name)?.value;
      return value === undefined ? undefined : sysctlWords(name, value);
    }
  }
};

const desiredLink = (link: DesiredLink): string =>
  link.kind === 'vrf'
    ? `link ${link.name} type vrf table ${link.table} up`
    : words(`link ${link.name}`, {
        master: link.master,
        address: link.mac,
        mtu: link.mtu,
      }).concat(' up');

const actualLink = ({ name, kind, vrfTable, master, mac, mtu, up }: Link, mirror: Mirror): string => {
  const state = up ? 'up' : 'down';
  if (vrfTable !== undefined) {
    const lost = mirror.vrfRules.lost().map((family) => ` without rule IPv${family} l3mdev-table`);
    return `link ${name} type vrf table ${vrfTable} ${state}${lost.join('')}`;
  }
  return `${words(`link ${name}`, { type: kind, master: mirror.nameOf(master), address: mac, mtu })} ${state}`;
};

const addressWords = ({ link, address, deprecated, noPrefixRoute }: DesiredAddress | Address): string =>
  [
    `address ${address} dev ${link}`,
    ...(deprecated === true ? ['preferred_lft 0'] : []),
    ...(noPrefixRoute === true ? ['noprefixroute'] : []),
  ].join(' ');

const routeWords = ({ dst, table, type, protocol, metric, via, dev, src, mtu, onlink }: Route): string =>
  words(`route ${type === 'unicast' ? '' : `${type} `}${dst}`, {
    via,
    dev,
    table,
    proto: protocol,
    src,
    metric: metric === 0 ? undefined : metric,
    mtu,
  }).concat(onlink === true ? ' onlink' : '');

/** The key of a rule is its text: `rule IPv4 2000: fwmark 0x1003 lookup 100003`. */
const ruleText = (key: string): string => `${key} protocol ${OUR_PROTOCOL}`;

const ruleWords = (item: Extract<HostItem, { kind: 'rule' }>): string => ruleText(hostItemKey(item));

const neighbourWords = (link: string, address: string, mac: string): string =>
  `neighbour ${address} dev ${link} lladdr ${mac} nud permanent`;

const sysctlWords = (key: string, value: string): string => `sysctl net/${key} = ${value}`;

const filterWords = (link: string, digest: string): string => `filter dev ${link} rules ${digest}`;

const words = (start: string, fields: Readonly<Record<string, string | number | undefined>>): string =>
  [start, ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))].join(
    ' ',
  );
