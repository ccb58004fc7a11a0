import { ipFamily } from '../../../net/ip.ts';
import { macToBytes } from '../../../net/mac.ts';
import { PodInterfaceError } from '../errors.ts';
import { isLinkName, MAX_ALIAS_LENGTH } from '../link/types.ts';
import { routeKey } from '../route/types.ts';
import { ALIAS_PREFIX } from './marks.ts';
import { routesOf } from './routes.ts';
import { MIN_MTU_IPV6, needsIpv6 } from './settings.ts';
import type { PodInterface, PodNetwork } from './types.ts';

const MIN_MTU = 68;
const MAX_MTU = 65_535;

/** @throws PodInterfaceError ERR_POD_INTERFACE_INVALID for what the kernel would refuse half-way, or not at all */
export const validatePod = ({ interfaces }: PodNetwork): void => {
  const problem = [
    ...interfaces.flatMap(problemsOf),
    ...repeated(interfaces.map(({ name }) => name)).map((name) => `interface ${name} is requested twice`),
    ...repeated(interfaces.map(({ hostName }) => hostName)).map((name) => `host interface ${name} is requested twice`),
    ...repeated(interfaces.flatMap(routesOf).map(routeKey)).map(
      (key) => `two routes have table, prefix, metric ${key}`,
    ),
  ][0];
  if (problem !== undefined) throw new PodInterfaceError('ERR_POD_INTERFACE_INVALID', problem);
};

const problemsOf = (desired: PodInterface): string[] =>
  [...nameProblems(desired), ...macProblems(desired), ...mtuProblems(desired), ...addressProblems(desired)].map(
    (problem) => `${desired.name}: ${problem}`,
  );

const nameProblems = ({ name, hostName, alias }: PodInterface): string[] => [
  ...[name, hostName].filter((text) => !isLinkName(text)).map((text) => `"${text}" is not a name for an interface`),
  ...(alias.startsWith(ALIAS_PREFIX) ? [] : [`alias "${alias}" does not begin with ${ALIAS_PREFIX}`]),
  ...(Buffer.byteLength(alias) > MAX_ALIAS_LENGTH ? [`alias is longer than ${MAX_ALIAS_LENGTH} bytes`] : []),
];

const macProblems = ({ mac }: PodInterface): string[] => {
  const [first = 0] = macToBytes(mac);
  return (first & 1) === 1 || mac === '00:00:00:00:00:00' ? [`${mac} is not the MAC of one interface`] : [];
};

const mtuProblems = (desired: PodInterface): string[] => {
  const { mtu } = desired;
  const min = needsIpv6(desired) ? MIN_MTU_IPV6 : MIN_MTU;
  return Number.isInteger(mtu) && mtu >= min && mtu <= MAX_MTU ? [] : [`MTU ${mtu} is not in ${min}–${MAX_MTU}`];
};

const addressProblems = ({ addresses, defaultGateways }: PodInterface): string[] => [
  ...repeated(addresses.map((address) => address.slice(0, address.indexOf('/')))).map(
    (ip) => `${ip} is requested twice`,
  ),
  ...repeated(defaultGateways.map(ipFamily)).map((family) => `there are two default gateways for IPv${family}`),
];

const repeated = <T>(items: readonly T[]): T[] => items.filter((item, index) => items.indexOf(item) !== index);
