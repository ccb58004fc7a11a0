/** The `ct` action: its parameters are printed in one order, whatever order they were written in. */
import { type Ip, ipFamily, isIp, parseIp } from '../../../net/ip.ts';
import { invalid } from '../errors.ts';
import { fieldByName } from './fields.ts';
import { callOf, cut, splitTopLevel } from './split.ts';
import { parseNumber } from './values.ts';

const ORDER = ['commit', 'force', 'table', 'zone', 'nat', 'alg', 'exec'];

/**
 * @param inner between the brackets
 * @param canonicalActions of `exec`
 * @throws OpenflowError ERR_OPENFLOW_INVALID
 */
export const canonicalCt = (inner: string, canonicalActions: (text: string) => string): string => {
  const parameters = splitTopLevel(inner).map((text): readonly [string, string] => {
    const call = callOf(text);
    if (call?.name === 'exec') return ['exec', `exec(${canonicalActions(call.inner)})`];
    if (call?.name === 'nat') return ['nat', canonicalNat(call.inner)];
    return plainParameter(text);
  });
  const rank = ([name]: readonly [string, string]): number => ORDER.indexOf(name);
  parameters.sort((a, b) => rank(a) - rank(b));
  return `ct(${parameters.map(([, text]) => text).join(',')})`;
};

const plainParameter = (text: string): readonly [string, string] => {
  const [name, value] = cut(text, '=');
  if (!ORDER.includes(name)) throw invalid(`ct has no parameter ${JSON.stringify(name)}`);
  if (value === undefined) return [name, name];
  if (name === 'table') return [name, `table=${parseNumber(value)}`];
  return [name, name === 'zone' ? `zone=${zone(value)}` : `${name}=${value}`];
};

const zone = (value: string): string => {
  if (/^[0-9]/.test(value)) return parseNumber(value).toString();
  const [name, bits = ''] = cut(value, '[');
  return `${fieldByName(name)?.nxm ?? name}[${bits.replace(/\]$/, '')}]`;
};

const NAT_FLAGS = ['persistent', 'hash', 'random'];

const canonicalNat = (inner: string): string => {
  const parts = splitTopLevel(inner);
  if (parts.length === 0) return 'nat';
  const ranges = parts.filter((one) => one.includes('=')).map(canonicalRange);
  const flags = NAT_FLAGS.filter((flag) => parts.includes(flag));
  if (ranges.length + flags.length !== parts.length) throw invalid(`nat(${inner}) is not understood`);
  return `nat(${[...ranges, ...flags].join(',')})`;
};

/** `src=10.0.0.1-10.0.0.9:100-200`, `dst=[fd00::1]:80`. */
const canonicalRange = (text: string): string => {
  const [side, value = ''] = cut(text, '=');
  if (side !== 'src' && side !== 'dst') throw invalid(`nat has no parameter ${JSON.stringify(side)}`);
  const { addresses, ports } = rangeOf(value);
  const [first, last] = addresses.map(address);
  if (first === undefined || addresses.length > 2)
    throw invalid(`${JSON.stringify(value)} is not a range of addresses`);
  const range = last === undefined || last === first ? first : `${first}-${last}`;
  const bracketed = ipFamily(first) === 6 && ports !== undefined ? bracket(range) : range;
  return `${side}=${bracketed}${ports === undefined ? '' : `:${ports}`}`;
};

const bracket = (range: string): string =>
  range
    .split('-')
    .map((one) => `[${one}]`)
    .join('-');

/** Addresses and ports as they are written: the first, and the last if there are two. */
export const rangeOf = (
  value: string,
): { readonly addresses: readonly string[]; readonly ports: string | undefined } => {
  const six = /^\[([^\]]*)\](?:-\[([^\]]*)\])?(?::([0-9-]+))?$/.exec(value);
  if (six !== null) return { addresses: [six[1] ?? '', ...(six[2] === undefined ? [] : [six[2]])], ports: six[3] };
  if (value.split(':').length > 2) return { addresses: value.split('-'), ports: undefined };
  const [addresses, ports] = cut(value, ':');
  return { addresses: addresses.split('-'), ports };
};

const address = (text: string): Ip => {
  if (!isIp(text)) throw invalid(`${JSON.stringify(text)} is not an address`);
  return parseIp(text);
};
