import { NetError } from './errors.ts';

declare const domainBrand: unique symbol;

/** A fully qualified name of the DNS, lower case, with the dot of the root: `www.example.com.` */
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

/** RFC 1035, section 2.3.4: 255 octets with the lengths of all labels, that of the root too. */
const MAX_NAME = 253;

const LABEL = /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
