/** Which packet is asked about, as people type it. */

import { CliError } from '../errors.ts';
import type { PolicyQuestion } from '../node/agent-client.ts';

export type AskedPacket = NonNullable<PolicyQuestion['packet']>;

/** @param text `80`, `udp/53` or, as kubectl shows ports, `53/UDP` @throws CliError */
export const parsePacket = (text: string): AskedPacket => {
  const parts = text.toLowerCase().split('/');
  const protocol = PROTOCOLS.find((one) => parts.includes(one)) ?? 'tcp';
  const [number = '', ...more] = parts.filter((part) => part !== protocol);
  const port = Number(number);
  if (more.length === 0 && /^[0-9]{1,5}$/.test(number) && port >= 1 && port <= 65_535) return { protocol, port };
  throw new CliError(`a port is 1 to 65535, or PROTOCOL/PORT with ${PROTOCOLS.join(', ')}, not "${text}"`, 2);
};

const PROTOCOLS = ['tcp', 'udp', 'sctp'] as const;

export const packetText = ({ protocol, port }: AskedPacket): string => `${protocol.toUpperCase()} ${port}`;
