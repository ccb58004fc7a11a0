/** Messages of multicast groups to events. */
import { decodeAddress } from '../address/codec.ts';
import { netlinkFault } from '../errors.ts';
import { decodeLink } from '../link/codec.ts';
import { decodeNeighbour } from '../neighbour/codec.ts';
import { decodeRoute, namedRoute } from '../route/codec.ts';
import { OUR_PROTOCOL } from '../route/types.ts';
import { decodeRule } from '../rule/codec.ts';
import { decodeSettings } from '../setting/codec.ts';
import { type Message, MessageType } from '../wire/codec.ts';
import { AF, NETCONFA, NLM_F } from '../wire/constants.ts';
import type { Change, NetlinkEvent } from './events.ts';
import type { LinkNames } from './link-names.ts';

/**
 * Undefined for what is not reported (see `NetlinkEvent`), and for what belongs to a link that is gone for good.
 * @throws NetlinkError ERR_NETLINK_MALFORMED
 */
export const decodeEvent = (
  { type, flags, data }: Message,
  names: LinkNames,
): NetlinkEvent | readonly NetlinkEvent[] | undefined => {
  switch (type) {
    case MessageType.NEWLINK:
    case MessageType.DELLINK:
      return linkEvent(type === MessageType.NEWLINK ? 'new' : 'gone', data, names);
    case MessageType.NEWADDR:
    case MessageType.DELADDR:
      return addressEvent(type === MessageType.NEWADDR ? 'new' : 'gone', data, names);
    case MessageType.NEWROUTE:
    case MessageType.DELROUTE:
      return routeEvent(type === MessageType.NEWROUTE ? 'new' : 'gone', flags, data, names);
    case MessageType.NEWRULE:
    case MessageType.DELRULE: {
      const rule = decodeRule(data);
      return rule && { kind: 'rule', change: type === MessageType.NEWRULE ? 'new' : 'gone', rule };
    }
    case MessageType.NEWNEIGH:
    case MessageType.DELNEIGH:
      return neighbourEvent(type === MessageType.NEWNEIGH ? 'new' : 'gone', data, names);
    case MessageType.NEWNETCONF:
      return settingEvents(data, names);
    default:
      return undefined;
  }
};

const linkEvent = (change: Change, data: Buffer, names: LinkNames): NetlinkEvent | undefined => {
  // A bridge reports its ports by messages of another family: a port that leaves is not a link that goes.
  if (data.length > 0 && data[0] !== AF.UNSPEC) return undefined;
  const link = decodeLink(data);
  if (change === 'new') names.set(link.index, link.name);
  else names.delete(link.index);
  return { kind: 'link', change, link };
};

const addressEvent = (change: Change, data: Buffer, names: LinkNames): NetlinkEvent | undefined => {
  const decoded = decodeAddress(data);
  if (decoded === undefined) return undefined;
  const { index, label, ...address } = decoded;
  const link = names.get(index);
  if (link === undefined) return undefined;
  return {
    kind: 'address',
    change,
    address: { ...address, link, ...(label === undefined || label === link ? {} : { label }) },
  };
};

const routeEvent = (change: Change, flags: number, data: Buffer, names: LinkNames): NetlinkEvent | undefined => {
  const replaced = change === 'new' && (flags & NLM_F.REPLACE) !== 0;
  if (!isReported(data, replaced)) return undefined;
  const decoded = decodeRoute(data);
  if (decoded === undefined) return undefined;
  const route = namedRoute(decoded, (index) => names.get(index));
  return route && { kind: 'route', change, replaced, route };
};

/** Looked at before decoding: a routing daemon may change a million routes that are nobody's business here. */
const isReported = (data: Buffer, replaced: boolean): boolean => {
  if (data.length < ROUTE_HEADER_LENGTH) throw netlinkFault('ERR_NETLINK_MALFORMED', 'a route is cut off');
  return replaced || data[DST_LENGTH_OFFSET] === 0 || data[PROTOCOL_OFFSET] === OUR_PROTOCOL;
};

const ROUTE_HEADER_LENGTH = 12;
const DST_LENGTH_OFFSET = 1;
const PROTOCOL_OFFSET = 5;

const neighbourEvent = (change: Change, data: Buffer, names: LinkNames): NetlinkEvent | undefined => {
  const decoded = decodeNeighbour(data);
  if (decoded === undefined) return undefined;
  const { index, ...neighbour } = decoded;
  const link = names.get(index);
  return link === undefined ? undefined : { kind: 'neighbour', change, neighbour: { link, ...neighbour } };
};

const settingEvents = (data: Buffer, names: LinkNames): NetlinkEvent[] => {
  const { family, index, values = [] } = decodeSettings(data) ?? {};
  const link = index === undefined ? undefined : (GROUPS.get(index) ?? names.get(index));
  if (link === undefined) return [];
  return values.map(([name, value]) => ({
    kind: 'setting',
    change: 'new',
    key: `ipv${family}/conf/${link}/${name}`,
    value,
  }));
};

const GROUPS = new Map<number, string>([
  [NETCONFA.ALL, 'all'],
  [NETCONFA.DEFAULT, 'default'],
]);
