/** Schemas of the value types of `net`. Their messages are those of `net`, which name the text that is wrong. */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { type Cidr, type InterfaceAddress, parseCidr, parseInterfaceAddress, parseMaskedCidr } from '../net/cidr.ts';
import { type DomainName, parseDomainName } from '../net/domain-name.ts';
import {
  type NetworkId,
  type NodeId,
  type Port,
  type PortKey,
  parseNetworkId,
  parseNodeId,
  parsePort,
  parsePortKey,
} from '../net/ids.ts';
import { type Ip, isLinkLocal6, parseIp } from '../net/ip.ts';
import { isUnicastMac, type Mac, parseMac } from '../net/mac.ts';
import { asText } from './as-text.ts';

/** Turns a parser that throws into a schema whose issue has the parser's message. */
const readWith =
  <In, Out>(read: (input: In) => Out) =>
  (input: In, context: z.RefinementCtx): Out => {
    try {
      return read(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  };

export const ipSchema: z.ZodType<Ip, string> = z.string().transform(readWith(parseIp));
export const cidrSchema: z.ZodType<Cidr, string> = z.string().transform(readWith(parseCidr));
/** Host bits are dropped. */
export const maskedCidrSchema: z.ZodType<Cidr, string> = z.string().transform(readWith(parseMaskedCidr));
export const interfaceAddressSchema: z.ZodType<InterfaceAddress, string> = z
  .string()
  .transform(readWith(parseInterfaceAddress));
/** In canonical form. */
export const domainNameSchema: z.ZodType<DomainName, string> = z.string().transform(readWith(parseDomainName));
export const macSchema: z.ZodType<Mac, string> = z.string().transform(readWith(parseMac));
/** What an interface can have as its own. */
export const unicastMacSchema: z.ZodType<Mac, string> = macSchema.refine(isUnicastMac, {
  error: (issue) => `"${asText(issue.input)}" is not the MAC address of an interface`,
});
export const linkLocalSchema: z.ZodType<Ip, string> = ipSchema.refine(isLinkLocal6, {
  error: (issue) => `"${asText(issue.input)}" is not an IPv6 link-local address`,
});

const numberOrText = z.union([z.number(), z.string()]);

export const networkIdSchema: z.ZodType<NetworkId, number | string> = numberOrText.transform(readWith(parseNetworkId));
export const nodeIdSchema: z.ZodType<NodeId, number | string> = numberOrText.transform(readWith(parseNodeId));
export const portSchema: z.ZodType<Port, number | string> = numberOrText.transform(readWith(parsePort));
export const portKeySchema: z.ZodType<PortKey, number> = z.number().transform(readWith(parsePortKey));

/** The items of a comma list, blanks around them dropped; an empty text has none. */
export const commaList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
