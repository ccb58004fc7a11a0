/** What is said to owners of NADs about their networks, and how it is known again. Pure. */
import { describeFinding } from '../../api/errors.ts';
import { cudnOfNetworkName } from '../../api/names.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import { NO_ROOM } from './network-room.ts';

/** The network has no id. */
export const noId = (name: string, why: string): string => `no id for network ${name}: ${why}`;

/** Of one that works, or goes on as it was. */
export const about = (name: string, why: string): string => `network ${name}: ${why}`;

/** @param definition key of the NAD that defines the network */
export const belongs = (name: string, definition: string | undefined): string => {
  const cudn = cudnOfNetworkName(name);
  const owner = cudn === undefined ? `UserDefinedNetwork ${definition}` : `ClusterUserDefinedNetwork ${cudn}`;
  return `${whose(name)}${owner}`;
};

const whose = (name: string): string => `network name ${name} belongs to `;

/** What can't be read of a NAD. */
export const faultsOf = ({ confError, keysError }: Pick<NadFacts, 'confError' | 'keysError'>): string[] =>
  [confError, keysError].flatMap((error) => (error === undefined ? [] : [describeFinding(error)]));

/** What follows is the NAD that defines it. */
export const noMatch = (name: string): string => `CNI config does not match that of network ${name}, which `;

/** Whether a message about a NAD says that its network has no id. */
export const isRefusal = (name: string, message: string): boolean => message.startsWith(noId(name, ''));

/** Whether it says that the NAD contradicts the one that defines the network, or may not have its name. */
export const isMismatch = (name: string, message: string): boolean =>
  message.startsWith(noMatch(name)) || message.startsWith(whose(name));

/** Whether it says that the network stays as it is for now, because there is no room to grow. */
export const isNoGrowth = (name: string, message: string): boolean => message.startsWith(about(name, NO_ROOM));
