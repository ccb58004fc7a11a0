/**
 * CEL as CRDs write it in `x-kubernetes-validations`, with what Kubernetes adds for addresses
 * (https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library). Fields whose names CEL reserves are not escaped.
 */
import { Environment } from '@marcbachmann/cel-js';
import {
  addressOf,
  type Cidr,
  cidrContains,
  cidrContainsIp,
  type InterfaceAddress,
  networkOfInterface,
  parseInterfaceAddress,
  prefixLength,
} from '../../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../../net/ip.ts';

/** @returns whether `self` keeps the rule @throws what the evaluation does not know: a field that is absent, for example */
export type CelRule = (values: { readonly self: unknown; readonly oldSelf?: unknown }) => boolean;

/** Undefined for a rule with functions that are not here. */
export const compileRule = (text: string): CelRule | undefined => {
  try {
    const rule = ENVIRONMENT.parse(text);
    return rule.check().valid ? (values) => rule({ oldSelf: null, ...values }) === true : undefined;
  } catch {
    return undefined;
  }
};

class IpValue {
  readonly ip: Ip;

  constructor(text: string) {
    this.ip = parseIp(text);
  }
}

class CidrValue {
  readonly address: InterfaceAddress;

  constructor(text: string) {
    this.address = parseInterfaceAddress(text);
  }

  get network(): Cidr {
    return networkOfInterface(this.address);
  }
}

const isReadable = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

const extreme = (list: readonly bigint[], isBetter: (a: bigint, b: bigint) => boolean): bigint =>
  list.reduce((best, one) => (isBetter(one, best) ? one : best));

const ENVIRONMENT = new Environment()
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn')
  .registerType('net.IP', IpValue)
  .registerType('net.CIDR', CidrValue)
  .registerFunction('isIP(string): bool', (text: string) => isReadable(() => parseIp(text)))
  .registerFunction('ip(string): net.IP', (text: string) => new IpValue(text))
  .registerFunction('net.IP.family(): int', ({ ip }: IpValue) => BigInt(ipFamily(ip)))
  .registerFunction('isCIDR(string): bool', (text: string) => isReadable(() => parseInterfaceAddress(text)))
  .registerFunction('cidr(string): net.CIDR', (text: string) => new CidrValue(text))
  .registerFunction('net.CIDR.ip(): net.IP', ({ address }: CidrValue) => new IpValue(addressOf(address)))
  .registerFunction('net.CIDR.prefixLength(): int', ({ address }: CidrValue) => BigInt(prefixLength(address)))
  .registerFunction('net.CIDR.masked(): net.CIDR', ({ network }: CidrValue) => new CidrValue(network))
  .registerFunction('net.CIDR.containsIP(string): bool', ({ network }: CidrValue, text: string) =>
    cidrContainsIp(network, parseIp(text)),
  )
  .registerFunction('net.CIDR.containsCIDR(string): bool', ({ network }: CidrValue, text: string) =>
    cidrContains(network, new CidrValue(text).network),
  )
  .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', ({ network }: CidrValue, inner: CidrValue) =>
    cidrContains(network, inner.network),
  )
  .registerFunction('list.min(): dyn', (list: readonly bigint[]) => extreme(list, (a, b) => a < b))
  .registerFunction('list.max(): dyn', (list: readonly bigint[]) => extreme(list, (a, b) => a > b))
  .registerOperator('net.CIDR == net.CIDR', (a: CidrValue, b: CidrValue) => a.address === b.address);
