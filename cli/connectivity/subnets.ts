/** The subnets of both tenants' networks. Pure. */
import { messageOf } from '../../base/error-message.ts';
import { type Cidr, cidrFamily, parseCidr, prefixLength } from '../../net/cidr.ts';
import type { Family } from '../../net/ip.ts';
import { CliError } from '../errors.ts';

/** Each node gets one, also those without a pod of the run: 2,048 of IPv4, with room for three pods. */
export const HOST_SUBNET: Readonly<Record<Family, number>> = { 4: 27, 6: 64 };

const DEFAULTS: Readonly<Record<Family, string>> = { 4: '10.203.0.0/16', 6: 'fd00:10:203::/48' };

export const defaultSubnets = (families: readonly Family[]): readonly Cidr[] =>
  families.map((family) => parseCidr(DEFAULTS[family]));

/** @throws CliError */
export const askedSubnets = (texts: readonly string[]): readonly Cidr[] =>
  texts.map((text) => {
    try {
      const cidr = parseCidr(text);
      const length = HOST_SUBNET[cidrFamily(cidr)];
      if (prefixLength(cidr) < length) return cidr;
      throw new CliError(`--subnet ${text} is too small: each node gets a /${length} of it`, 2);
    } catch (error) {
      throw error instanceof CliError ? error : new CliError(`--subnet: ${messageOf(error)}`, 2);
    }
  });
