/**
 * Elements in one form, whatever they were written like. nft prints protocols by name only where /etc/protocols has them,
 * and leaves out prefix lengths that say nothing.
 */
import { isIp, parseIp } from '../../net/ip.ts';
import { splitOutsideQuotes } from './quoted-text.ts';

/** @param type of the set or of the map's values: `ipv4_addr . inet_proto . inet_service` */
export const elementForm = (type: string, text: string): string => {
  const types = type.split(' . ');
  return splitOutsideQuotes(text.trim(), ' . ')
    .map((part, index) => componentForm(types[index] ?? '', part.trim()))
    .join(' . ');
};

/** Numbers of protocols(5) by the keywords that nft has for them. */
const PROTOCOLS: Readonly<Record<string, string>> = {
  '1': 'icmp',
  '6': 'tcp',
  '17': 'udp',
  '58': 'icmpv6',
  'ipv6-icmp': 'icmpv6',
  '132': 'sctp',
};

const componentForm = (type: string, text: string): string => {
  switch (type) {
    case 'ipv4_addr':
      return text.replace(/\/32$/, '');
    case 'ipv6_addr':
      return ipv6Form(text.replace(/\/128$/, ''));
    case 'inet_proto':
      return PROTOCOLS[text] ?? text.toLowerCase();
    case 'mark':
      return /^(0x[\da-f]+|\d+)$/i.test(text) ? `0x${Number(text).toString(16).padStart(8, '0')}` : text;
    case 'ifname':
      return /^".*"$/.test(text) ? text : `"${text}"`;
    // nft prints the id, without quotes, when the cgroup is gone.
    case 'cgroupsv2':
      return /^(".*"|\d+)$/.test(text) ? text : `"${text}"`;
    default:
      return text;
  }
};

/** Also of both ends of a range and of a prefix. */
const ipv6Form = (text: string): string =>
  text.replace(/[\da-f:.]+/gi, (part) => (part.includes(':') && isIp(part) ? parseIp(part) : part));

/** nft cannot name an element again whose cgroup is gone: neither its path nor its id is taken. */
export const canBeNamed = (type: string, key: string): boolean =>
  !type
    .split(' . ')
    .some((component, index) => component === 'cgroupsv2' && /^\d/.test(splitOutsideQuotes(key, ' . ')[index] ?? ''));
