import { NetError } from './errors.ts';

declare const domainBrand: unique symbol;

/** A fully qualified name of the DNS, lower case, with the dot of the root: `www.example.com.`; or a wildcard of such: `*.example.com.` */
export type DomainName = string & { readonly [domainBrand]: true };

/**
 * Letters, digits, hyphens and underscores in labels of up to 63, at least two of them (RFC 1035, section 2.3.1; underscores as in the names of
 * services). The dot at the end may be missing. Other scripts are refused: which punycode they mean depends on who writes it
 * down (RFC 5891). So are wildcards: which names they stand for nobody can ask a server.
 * @throws NetError ERR_NET_DOMAIN
 */
export const parseDomainName = (text: string): DomainName => {
  const refuse = (message: string): never => {
    throw new NetError('ERR_NET_DOMAIN', `"${text.slice(0, MAX_NAME)}" ${message}`, text);
  };
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (name.length > MAX_NAME) refuse(`is longer than ${MAX_NAME} characters`);
  if (name.includes('*'))
    refuse('is a wildcard, and no server can be asked which names it stands for: name each of them');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (/[^\x00-\x7f]/.test(name)) refuse('is not ASCII: write it in punycode (xn--…)');
  const labels = name.split('.');
  if (!labels.every((label) => LABEL.test(label))) refuse('is not a domain name');
  // Of one label is what a search list completes, which a node has another of than a pod; of digits is an address.
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? '')) refuse('is not a fully qualified domain name');
  return `${name.toLowerCase()}.` as DomainName;
};

/**
 * `*.example.com`: all names with one label in place of the star, which stands for the first label and for no part of one. What is below it
 * has two labels at least, without underscores: a DNSNameResolver (network.openshift.io/v1alpha1) can have no other.
 * @throws NetError ERR_NET_DOMAIN
 */
export const parseWildcardName = (text: string): DomainName => {
  const refuse = (message: string): never => {
    throw new NetError('ERR_NET_DOMAIN', `"${text.slice(0, MAX_NAME)}" ${message}`, text);
  };
  if (!text.startsWith(STAR) || text.includes('*', 1)) refuse('is not a wildcard: the star is the whole first label');
  if (text.includes('_')) refuse('has an underscore, which no DNSNameResolver can have');
  const below = parseDomainName(text.slice(STAR.length));
  if (below.length > MAX_NAME - STAR.length) refuse(`is longer than ${MAX_NAME} characters`);
  return `${STAR}${below}` as DomainName;
};

export const isWildcardName = (name: DomainName): boolean => name.startsWith(STAR);

/** The wildcard itself, too: a server may be asked for it. */
export const wildcardCovers = (wildcard: DomainName, name: DomainName): boolean =>
  name.slice(name.indexOf('.')) === wildcard.slice(1);

const STAR = '*.';

/** RFC 1035, section 2.3.4: 255 octets with the lengths of all labels, that of the root too. */
const MAX_NAME = 253;

const LABEL = /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
