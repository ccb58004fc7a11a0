/**
 * Makes the kernel ask for an association with a peer, by a datagram that its policy is about: one that the peer drops, as no version of
 * Geneve but 0 is known (RFC 8926 §3.4).
 */
import { createSocket } from 'node:dgram';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { GENEVE } from '../model/registry/tunnels.ts';

const UNKNOWN_VERSION = Buffer.alloc(8, 0xc0);

/** Never throws: what does not leave is tried again by who looks. */
export const knock = (from: Ip, to: Ip): void => {
  const socket = createSocket(ipFamily(to) === 4 ? 'udp4' : 'udp6');
  // What the kernel refuses at once, as there is no association yet.
  socket.on('error', () => socket.close());
  socket.bind(0, from, () => socket.send(UNKNOWN_VERSION, GENEVE.port, to, () => socket.close()));
};
